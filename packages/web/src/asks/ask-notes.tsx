import type { Ask } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { useConnection, useSession } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { Notice } from "../design/notice.tsx"
import { isSilent } from "../fleet/session-status.tsx"
import type { AnswerState } from "./answer/answer-states.ts"

/** How the answer fares, and what stands in its way. */
export function AskNotes({ ask, state }: { readonly ask: Ask; readonly state: AnswerState }) {
  const session = useSession(ask.sessionId)
  const now = useNow()
  const connection = useConnection()
  if (state.name === "sending")
    return (
      <p role="status" className="text-dense text-text-2">
        Sending…
      </p>
    )
  if (state.name === "changed")
    return (
      <Notice tone="caution" alert>
        The request changed; review again.
      </Notice>
    )
  if (state.name === "not-sent") {
    return (
      <Notice tone="danger" alert>
        Not sent: {state.why}
        <Button onClick={state.again}>Retry</Button>
      </Notice>
    )
  }
  if (connection.name === "lost")
    return <p className="text-dense text-caution">The hub is away: nothing can be answered until it is back.</p>
  if (session !== undefined && isSilent(session, now))
    return <p className="text-dense text-caution">Machine offline; your answer will wait.</p>
  return null
}
