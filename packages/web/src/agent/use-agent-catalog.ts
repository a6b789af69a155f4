import type { Hub, Session } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { useSelected } from "../app/value-store.ts"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { type AgentCatalog, catalogOf } from "./agent-catalog.ts"
import { isReachable } from "./reachable.ts"

/** What each agent answered to `initialize`; the hub has it at hand, and it stays as it was while that process lives. */
const greetings = new Map<string, Promise<unknown>>()
const MAX_KEPT = 20

function greetingOf(hub: Hub, session: string): Promise<unknown> {
  const kept = greetings.get(session)
  if (kept !== undefined) return kept
  const asked = hub
    .session(session)
    .control({ subtype: "initialize" })
    .catch(() => {
      greetings.delete(session)
    })
  greetings.set(session, asked)
  const [oldest] = greetings.keys()
  if (greetings.size > MAX_KEPT && oldest !== undefined) greetings.delete(oldest)
  return asked
}

/** The agent's commands and sub-agents. Asked for only once `isWanted`. */
export function useAgentCatalog(session: Session, feed: SessionFeed, isWanted: boolean): AgentCatalog {
  const hub = useHub()
  const canOperate = useCanOperate()
  const isHere = isReachable(session)
  const [greeting, setGreeting] = useState<unknown>(undefined)
  const lastSeq = useSelected(feed.view, lastSeqOf)
  useEffect(() => {
    if (!isWanted || !canOperate || !isHere) return undefined
    let isOver = false
    void greetingOf(hub, session.id).then((told) => (isOver ? undefined : setGreeting(told)))
    return () => {
      isOver = true
    }
  }, [hub, session.id, isWanted, canOperate, isHere])
  // With every event there may be a newer beginning of a turn.
  return useMemo(
    () => (isWanted ? catalogOf(feed.lastInit(), greeting) : { commands: [], agents: [] }),
    [isWanted, feed, greeting, lastSeq],
  )
}

function lastSeqOf({ lastSeq }: { readonly lastSeq: number }): number {
  return lastSeq
}
