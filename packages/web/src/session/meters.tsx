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
  for (const row of rows.toReversed()) {
    const max = row.kind === "result" ? roomIn(messageAt(row.headSeq)?.["modelUsage"], last.model) : undefined
    if (max !== undefined) return { used: last.used, max }
  }
  return undefined
}

interface LastUse {
  readonly used: number
  readonly model: string | undefined
}

function lastUse(rows: readonly Row[], messageAt: MessageAt): LastUse | undefined {
  for (const row of rows.toReversed()) {
    if (row.kind === "compaction")
      return row.postTokens === undefined ? undefined : { used: row.postTokens, model: undefined }
    if (!SPOKEN.has(row.kind)) continue
    const said = fieldOf(messageAt(row.headSeq), "message")
    const used = COUNTED.reduce((sum, name) => sum + countOf(said?.["usage"], name), 0)
    if (used > 0) return { used, model: textOf(said, "model") }
  }
  return undefined
}

/** Rows that stand at a message of the model. */
const SPOKEN: ReadonlySet<Row["kind"]> = new Set(["text", "thinking", "tool", "activity"])
/** A request holds all that went in, and the answer, which goes into the next one. */
const COUNTED = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]

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

/** Reads the end of the log, also while the reader is elsewhere in it. */
function useAtTail<T>(read: (feed: SessionFeed) => T | undefined): T | undefined {
  const { feed } = useTranscript()
  const { isAtTail, lastSeq, load } = useValue(feed.view)
  const kept = useRef<T | undefined>(undefined)
  return useMemo(() => {
    if (load === "ready" && isAtTail) kept.current = read(feed) ?? kept.current
    return kept.current
    // The feed keeps one list of rows: `lastSeq` tells that there are more.
  }, [feed, load, isAtTail, lastSeq])
}

/** How full the context is. */
export function useContextFill(): ContextFill | undefined {
  return useAtTail((feed) => contextFillOf(feed.laneRows(null), (seq) => feed.eventAt(seq)?.message))
}

export function ContextMeter({ fill }: { readonly fill: ContextFill | undefined }) {
  if (fill === undefined) return null
  const share = Math.min(100, Math.round((fill.used / fill.max) * 100))
  const words = `${tokens(fill.used)} of ${tokens(fill.max)} tokens`
  return <ShareMeter label="Context" short="ctx" share={share} words={words} />
}

export function useLimitUse(): LimitUse | undefined {
  const now = useNow()
  return limitUseOf(
    useAtTail((feed) => feed.lastLimit()),
    now,
  )
}

export function LimitMeter({ use, className }: { readonly use: LimitUse | undefined; readonly className?: string }) {
  const now = useNow()
  if (use === undefined) return null
  const resets = use.resetsAtMs === undefined ? "" : `, resets at ${moment(use.resetsAtMs, now)}`
  return (
    <ShareMeter
      label={use.name}
      short={use.short}
      share={use.share}
      words={`as of ${moment(Date.parse(use.toldAt), now)}${resets}`}
      className={className}
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
  readonly className?: string | undefined
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
        className="block h-1.5 w-10 min-w-0 overflow-hidden rounded-mark bg-sunken outline outline-edge/60"
      >
        <span
          ref={(element) => element?.style.setProperty("width", `${share}%`)}
          className={classes("block h-full", share >= NEARLY_FULL ? "bg-caution" : "bg-accent")}
        />
      </span>
    </span>
  )
}
