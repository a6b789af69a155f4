import type { Ask, HubEvent } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useContext, useEffect, useMemo, useState } from "react"
import { useHub, useSession } from "../app/hub-context.ts"
import { useValue, whileOpen } from "../app/value-store.ts"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { VisibleText } from "../design/visible-text.tsx"
import { TranscriptContext } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { type AskContext, contextIn, contextOf, eventsBefore } from "./ask-context.ts"

/** Reading a command takes a parser: no part of what is loaded first. */
const RiskCues = lazyPart(async () => (await import("./risk-cues.tsx")).RiskCues, { isAhead: true })

/** Why it is asked: the agent's own last words, the task, and facts to look at twice. Nothing here says what to decide. */
export function AskWhy({ ask }: { readonly ask: Ask }) {
  const transcript = useContext(TranscriptContext)
  return (
    <div className="flex shrink-0 flex-col gap-1 text-dense empty:hidden">
      {transcript === undefined ? <FoundWords ask={ask} /> : <HeardWords feed={transcript.feed} ask={ask} />}
      {ask.kind === "tool" && (
        <PartBoundary waiting={null} frame={() => <NotChecked />}>
          <RiskCues ask={ask} />
        </PartBoundary>
      )}
    </div>
  )
}

/** In the place of cues that could not be had: silence would say that nothing was found. */
export function NotChecked() {
  return <span className="shrink-0 text-meta font-medium text-caution">Not checked</span>
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
  const session = useSession(ask.sessionId)
  const context = useMemo(() => {
    // Events on their way are not asked for a second time.
    if (view.load !== "ready") return NOTHING_SAID
    if (view.toSeq < ask.seq && !view.isAtTail) return undefined
    return contextOf(ask, feed, session)
  }, [feed, view, ask, session])
  return context === undefined ? <FoundWords ask={ask} /> : <Words context={context} />
}

/** Elsewhere: from the log, once. Without it the request is shown all the same. */
function FoundWords({ ask }: { readonly ask: Ask }) {
  const { id, sessionId, seq } = ask
  const toolUseId = textOf(ask.request, "tool_use_id")
  const hub = useHub()
  const session = useSession(sessionId)
  const [found, setFound] = useState<{ readonly of: string; readonly events: readonly HubEvent[] } | undefined>(
    undefined,
  )
  useEffect(() => {
    const log = hub.session(sessionId)
    const asked = { request: { tool_use_id: toolUseId }, seq }
    return whileOpen(
      eventsBefore(asked, (query) => log.events(query)),
      (events) => setFound({ of: id, events }),
    )
  }, [hub, id, sessionId, seq, toolUseId])
  const context = useMemo(
    () => (found?.of === id ? contextIn(ask, found.events, session) : NOTHING_SAID),
    [found, id, ask, session],
  )
  return <Words context={context} />
}
