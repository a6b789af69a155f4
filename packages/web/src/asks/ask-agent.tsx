import type { Ask } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useCallback, useContext } from "react"
import { useSelected } from "../app/value-store.ts"
import { agentWords } from "../fleet/ask-words.ts"
import { agentName } from "../transcript/rows/lane-path.ts"
import { TranscriptContext } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"

/** Which of a session's agents asks. Beside its transcript a sub-agent has a name, elsewhere only an id. */
export function AskAgent({ ask }: { readonly ask: Ask }) {
  const transcript = useContext(TranscriptContext)
  return transcript === undefined ? <span>{agentWords(ask)}</span> : <NamedAgent feed={transcript.feed} ask={ask} />
}

function NamedAgent({ feed, ask }: { readonly feed: SessionFeed; readonly ask: Ask }) {
  const toolUse = textOf(ask.request, "tool_use_id") ?? ""
  const name = useSelected(
    feed.view,
    useCallback(() => {
      const lane = feed.tool(toolUse)?.lane ?? null
      const host = lane === null ? undefined : feed.tool(lane)
      return host === undefined ? undefined : agentName(host)
    }, [feed, toolUse]),
  )
  return <span>{name === undefined ? agentWords(ask) : `sub-agent ${name}`}</span>
}
