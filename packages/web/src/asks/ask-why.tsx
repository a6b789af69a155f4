import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"
import { useContext, useEffect, useMemo, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { useValue, whileOpen } from "../app/value-store.ts"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { TranscriptContext } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { type AskContext, contextOf, type Spoken, spokenIn } from "./ask-context.ts"

/** Reading a command takes a parser: no part of what is loaded first. */
const RiskCues = lazyPart(async () => (await import("./risk-cues.tsx")).RiskCues, { isAhead: true })

/** Why it is asked: the agent's own last words, the task, and facts to look at twice. Nothing here says what to decide. */
export function AskWhy({ ask }: { readonly ask: Ask }) {
  const transcript = useContext(TranscriptContext)
  return (
    <div data-why className="flex shrink-0 flex-col gap-1 text-dense empty:hidden">
      {transcript === undefined ? <FoundWords ask={ask} /> : <HeardWords feed={transcript.feed} ask={ask} />}
      {ask.kind === "tool" && (
        <PartBoundary waiting={null} frame={() => null}>
          <RiskCues ask={ask} />
        </PartBoundary>
      )}
    </div>
  )
}

function Words({ context: { said, task } }: { readonly context: AskContext }) {
  return (
    <>
      {said !== undefined && (
        <p className="line-clamp-2">
          <span className="text-text-3">Claude: </span>
          <VisibleText text={said} />
        </p>
      )}
      {task !== undefined && (
        <p className="line-clamp-1 text-text-3">
          Task: <VisibleText text={task} />
        </p>
      )}
    </>
  )
}

const NOTHING_SAID: AskContext = { said: undefined, task: undefined }

/** Beside a transcript: from the rows that are there, where these reach to the request. */
function HeardWords({ feed, ask }: { readonly feed: SessionFeed; readonly ask: Ask }) {
  const view = useValue(feed.view)
  const { request, seq } = ask
  const context = useMemo(() => {
    // What is on its way is not asked for a second time.
    if (view.load !== "ready") return NOTHING_SAID
    if (view.toSeq < seq && !view.isAtTail) return undefined
    const lane = feed.tool(textOf(request, "tool_use_id") ?? "")?.lane ?? null
    // A message that still waits is not what the agent works on.
    const waiting: ReadonlySet<string> = new Set(view.waiting.map(({ key }) => key))
    const rows = feed.laneRows(lane).filter(({ key }) => !waiting.has(key))
    return contextOf(rows.flatMap(spokenRow), seq)
  }, [feed, view, request, seq])
  return context === undefined ? <FoundWords ask={ask} /> : <Words context={context} />
}

function spokenRow(row: Row): readonly Spoken[] {
  if (row.kind === "text") return [{ seq: row.headSeq, by: "agent", text: row.text }]
  return row.kind === "prompt" ? [{ seq: row.headSeq, by: "person", text: row.text }] : []
}

/** A request's words stand shortly before it. */
const PAGE = 40

/** Elsewhere: from the log, once. Without it the request is shown all the same. */
function FoundWords({ ask: { id, sessionId, seq } }: { readonly ask: Ask }) {
  const hub = useHub()
  const [found, setFound] = useState<{ readonly of: string; readonly context: AskContext } | undefined>(undefined)
  useEffect(
    () =>
      whileOpen(hub.session(sessionId).events({ before: seq, limit: PAGE }), ({ events }) =>
        setFound({ of: id, context: contextOf(spokenIn(events), seq) }),
      ),
    [hub, id, sessionId, seq],
  )
  return found?.of === id ? <Words context={found.context} /> : null
}
