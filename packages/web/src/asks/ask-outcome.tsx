import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useMemo, useRef, useState } from "react"
import { hubNow } from "../app/clock.ts"
import { useAsk, useFleet, useHub, useMe } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { classes } from "../design/classes.ts"
import { ruleAddress, summaryOf } from "../fleet/ask-words.ts"
import { mayTakeFocus } from "./answer/following-focus.ts"
import { useAnswerState } from "./answer/send-answer.ts"
import { outcomeSentence } from "./request-words.ts"
import { useLingering } from "./shown-ask.tsx"

/** The outcome, in the place of the question. */
export function Outcome({ ask, hadFocus }: { readonly ask: Ask; readonly hadFocus: boolean }) {
  const line = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // The focus of somebody who answered, or was about to, stays here, on the outcome: their buttons are gone.
    const isLost = document.activeElement === document.body || document.activeElement === null
    if (mayTakeFocus() || (hadFocus && isLost)) line.current?.focus()
  }, [hadFocus])
  const isGood = useIsGood(ask)
  return (
    <p
      ref={line}
      tabIndex={-1}
      role="status"
      data-outcome={ask.state}
      className={classes("shrink-0 font-medium", isGood ? "text-clear" : "text-text-2")}
    >
      {isGood && <SemaphoreArm />}
      <Sentence ask={ask} />
    </p>
  )
}

/** Allowed, and not instead of what the reader wanted: the loser of a race sees no green. */
export function useIsGood({ id, state, settledBy }: Ask): boolean {
  const me = useMe()
  const { name } = useAnswerState(id)
  const isOthers = name === "lost" || (name === "sending" && settledBy !== me.name)
  return state === "allowed" && !isOthers
}

/** The arm was level while the request waited: it drops, the way is clear. Whoever wants no motion sees it down at once. */
function SemaphoreArm() {
  return (
    <svg
      aria-hidden="true"
      data-arm
      viewBox="0 0 16 16"
      className="me-1.5 inline size-4 align-[-0.15em] fill-none stroke-current stroke-2 [stroke-linecap:round]"
    >
      <path d="M4 2v12" />
      <path d="M4 5h9" className="origin-[4px_5px] rotate-40 animate-arm-drop" />
    </svg>
  )
}

/** Above the next request: what came of the one before, for a moment. */
export function OutcomeStrip({ id }: { readonly id: string | undefined }) {
  const ask = useAsk(id ?? "")
  const { isOver, pointer } = useLingering(id)
  if (isOver || ask === undefined) return null
  return (
    <p
      role="status"
      {...pointer}
      className="flex shrink-0 flex-wrap gap-x-2 rounded-control bg-sunken px-3 py-1 text-dense text-text-2"
    >
      <Link
        href={`/requests/${encodeURIComponent(ask.id)}`}
        className="max-w-60 truncate font-mono text-meta underline"
      >
        <bdi>{summaryOf(ask)}</bdi>
      </Link>
      <Said ask={ask} />
    </p>
  )
}

function Said({ ask }: { readonly ask: Ask }) {
  const isGood = useIsGood(ask)
  return (
    <span className={classes(isGood && "text-clear")}>
      {isGood && <SemaphoreArm />}
      <Sentence ask={ask} />
    </span>
  )
}

function Sentence({ ask }: { readonly ask: Ask }) {
  const me = useMe()
  const answer = useAnswerState(ask.id)
  const newer = useNewer(ask)
  const page = useElicitationDone(ask)
  return (
    <>
      {outcomeSentence(ask, { me: me.name, answer })}
      {page === "awaited" && " Waiting for the server to confirm."}
      {page === "done" && " The server confirmed."}
      {ask.via === "policy" && ask.rule !== undefined && (
        <>
          {" "}
          <Link href={ruleAddress(ask.rule)} className="text-accent underline">
            Show rule
          </Link>
        </>
      )}
      {newer !== undefined && (
        <>
          {" "}
          <Link href={`/requests/${encodeURIComponent(newer.id)}`} className="text-accent underline">
            Show newer request
          </Link>
        </>
      )}
    </>
  )
}

/** The request that took the place of this one: for the same use of a tool, asked later. */
function useNewer(ask: Ask): Ask | undefined {
  const hub = useHub()
  const { asks } = useFleet()
  const [all, setAll] = useState<readonly Ask[]>([])
  const isWanted = ask.state === "superseded"
  useEffect(() => {
    // A request that cannot be had is not linked to.
    if (isWanted) hub.asks({ session: ask.sessionId, order: "newest" }).then(setAll, () => undefined)
  }, [hub, isWanted, ask.sessionId])
  return useMemo(() => {
    if (!isWanted) return undefined
    const use = ask.request["tool_use_id"]
    return [...all, ...asks.values()]
      .filter(
        (other) => other.sessionId === ask.sessionId && other.request["tool_use_id"] === use && other.seq > ask.seq,
      )
      .sort((a, b) => b.seq - a.seq)[0]
  }, [isWanted, all, asks, ask])
}

/** Longer ago than this nobody waits for a page any more. */
const WAITED_MS = 3_600_000

/** Whether an MCP server says that the page it asked to open has done its work. */
function useElicitationDone(ask: Ask): "not-awaited" | "awaited" | "done" {
  const hub = useHub()
  const [isDone, setDone] = useState(false)
  const id = textOf(ask.request, "elicitation_id")
  const isAwaited =
    ask.kind === "elicitation" &&
    textOf(ask.request, "mode") === "url" &&
    ask.state === "allowed" &&
    id !== undefined &&
    hubNow() - Date.parse(ask.settledAt ?? ask.askedAt) < WAITED_MS
  useEffect(() => {
    if (!isAwaited) return undefined
    const stop = new AbortController()
    const watch = async () => {
      for await (const item of hub.session(ask.sessionId).follow({ after: ask.seq, signal: stop.signal })) {
        if (item.type !== "event") continue
        const { message } = item
        if (message["subtype"] !== "elicitation_complete" || textOf(message, "elicitation_id") !== id) continue
        return setDone(true)
      }
    }
    // Without the stream it is only not told.
    watch().catch(() => undefined)
    return () => stop.abort()
  }, [hub, ask.sessionId, ask.seq, id, isAwaited])
  if (!isAwaited) return "not-awaited"
  return isDone ? "done" : "awaited"
}
