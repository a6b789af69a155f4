import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"
import { useMemo, useRef } from "react"
import { useNow } from "../app/clock.ts"
import { useValue } from "../app/value-store.ts"
import { classes } from "../design/classes.ts"
import { moment, tokens } from "../design/words.ts"
import { type LimitUse, limitUseOf } from "../fleet/limit-use.ts"
import { useTranscript } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"

/** How full the agent's context is, in tokens. */
export interface ContextFill {
  readonly used: number
  readonly max: number
}

type MessageAt = (seq: number) => Readonly<Record<string, unknown>> | undefined

/**
 * As the log itself tells it: what the last request took, of what its model has room for. Nobody is asked for it, so a viewer
 * sees it too. Undefined until both were told: a size that was never told is not guessed.
 */
export function contextFillOf(rows: readonly Row[], messageAt: MessageAt): ContextFill | undefined {
  const last = lastUse(rows, messageAt)
  if (last === undefined) return undefined
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    const max = row?.kind === "result" ? roomIn(messageAt(row.headSeq)?.["modelUsage"], last.model) : undefined
    if (max !== undefined) return { used: last.used, max }
  }
  return undefined
}

function lastUse(
  rows: readonly Row[],
  messageAt: MessageAt,
): { readonly used: number; readonly model: string | undefined } | undefined {
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    if (row?.kind === "compaction")
      return row.postTokens === undefined ? undefined : { used: row.postTokens, model: undefined }
    if (row === undefined || !SPOKEN.has(row.kind)) continue
    const said = fieldOf(messageAt(row.headSeq), "message")
    const used = tokensIn(said?.["usage"])
    if (used > 0) return { used, model: textOf(said, "model") }
  }
  return undefined
}

/** Rows that stand at a message of the model. */
const SPOKEN: ReadonlySet<Row["kind"]> = new Set(["text", "thinking", "tool", "activity"])
/** What a request holds: all that went in, and the answer, which goes into the next one. */
const COUNTED = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]

function tokensIn(usage: unknown): number {
  return COUNTED.reduce((sum, name) => sum + countOf(usage, name), 0)
}

/** Context window of the model that spoke; when it is listed under another name, the largest one listed. */
function roomIn(usage: unknown, model: string | undefined): number | undefined {
  if (!isObject(usage)) return undefined
  const own = model === undefined ? 0 : countOf(usage[model], "contextWindow")
  const most = Math.max(0, ...Object.values(usage).map((each) => countOf(each, "contextWindow")))
  return own || most || undefined
}

function countOf(value: unknown, name: string): number {
  const count = isObject(value) ? value[name] : undefined
  return typeof count === "number" && count > 0 ? count : 0
}

/** How full the context is. Of the log's end, also while the reader is elsewhere in it. */
export function useContextFill(): ContextFill | undefined {
  const { feed } = useTranscript()
  const { isAtTail, lastSeq, load } = useValue(feed.view)
  const kept = useRef<ContextFill | undefined>(undefined)
  return useMemo(() => {
    if (load === "ready" && isAtTail)
      kept.current = contextFillOf(feed.laneRows(null), (seq) => feed.eventAt(seq)?.message) ?? kept.current
    return kept.current
    // The rows are the fold's own: `lastSeq` tells that there are others.
  }, [feed, load, isAtTail, lastSeq])
}

export function ContextMeter({ fill }: { readonly fill: ContextFill | undefined }) {
  if (fill === undefined) return null
  const share = Math.min(100, Math.round((fill.used / fill.max) * 100))
  return <ShareMeter label="Context" short="ctx" share={share} words={words(fill)} />
}

function words({ used, max }: ContextFill): string {
  return `${tokens(used)} of ${tokens(max)} tokens`
}

/** As the end of the log tells it, also while the reader is elsewhere in it. */
export function useLimitUse(): LimitUse | undefined {
  const { feed } = useTranscript()
  const { isAtTail, lastSeq, load } = useValue(feed.view)
  const now = useNow()
  const kept = useRef<ReturnType<SessionFeed["lastLimit"]>>(undefined)
  const told = useMemo(() => {
    if (load === "ready" && isAtTail) kept.current = feed.lastLimit() ?? kept.current
    return kept.current
    // What is held changes: `lastSeq` tells that there is more of it.
  }, [feed, load, isAtTail, lastSeq])
  return limitUseOf(told, now)
}

interface LimitMeterProps {
  readonly use: LimitUse | undefined
  readonly className?: string
}

export function LimitMeter({ use, className }: LimitMeterProps) {
  const now = useNow()
  if (use === undefined) return null
  const resets = use.resetsAtMs === undefined ? "" : `, resets at ${moment(use.resetsAtMs, now)}`
  return (
    <ShareMeter
      label={use.name}
      short={use.short}
      share={use.share}
      words={`as of ${moment(Date.parse(use.toldAt), now)}${resets}`}
      {...(className === undefined ? {} : { className })}
    />
  )
}

/** From here on there is little left. */
const NEARLY_FULL = 80

interface ShareMeterProps {
  readonly label: string
  /** How it is called where there is little room. */
  readonly short: string
  /** In percent. */
  readonly share: number
  /** The numbers behind it. */
  readonly words: string
  readonly className?: string
}

/** How much of something is used, as a number and a bar. */
function ShareMeter({ label, short, share, words, className }: ShareMeterProps) {
  return (
    <span
      className={classes("flex min-w-12 items-center gap-1.5 whitespace-nowrap tabular-nums", className)}
      title={`${label}: ${words}`}
    >
      <span aria-hidden="true">
        {short} {share} %
      </span>
      <span
        role="meter"
        aria-label={label}
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${share} %, ${words}`}
        className="block h-1.5 w-10 min-w-0 overflow-hidden rounded-[3px] bg-sunken outline outline-edge/60"
      >
        <span
          ref={(element) => element?.style.setProperty("width", `${share}%`)}
          className={classes("block h-full", share >= NEARLY_FULL ? "bg-caution" : "bg-accent")}
        />
      </span>
    </span>
  )
}
