import type { Hub, HubEvent } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useHub } from "../app/hub-context.ts"

/** Where in a session a fork begins: after something that its agent said. */
export type ForkPoint =
  | { readonly name: "end" }
  | { readonly name: "looking" }
  | { readonly name: "found"; readonly message: string; readonly at: string }
  | { readonly name: "missing" }

const END: ForkPoint = { name: "end" }
/** The address may name any event; what the agent said last before it is not far. */
const LOOKED_THROUGH = 200

export function useForkPoint(session: string | undefined, seq: number): ForkPoint {
  const hub = useHub()
  const isWanted = session !== undefined && Number.isSafeInteger(seq) && seq > 0
  const [point, setPoint] = useState<ForkPoint>(isWanted ? { name: "looking" } : END)
  useEffect(() => {
    if (!isWanted) return undefined
    let isOver = false
    void findPoint(hub, session, seq).then((found) => (isOver ? undefined : setPoint(found)))
    return () => {
      isOver = true
    }
  }, [hub, session, seq, isWanted])
  return point
}

async function findPoint(hub: Hub, session: string, seq: number): Promise<ForkPoint> {
  try {
    const { events } = await hub.session(session).events({ before: seq + 1, limit: LOOKED_THROUGH })
    return forkPointIn(events)
  } catch {
    return { name: "missing" }
  }
}

/** The last of them that a conversation can be cut after. */
export function forkPointIn(events: readonly HubEvent[]): ForkPoint {
  const said = events.findLast(
    ({ from, message }) =>
      from === "agent" && message.type === "assistant" && message["parent_tool_use_id"] == null && hasUuid(message),
  )
  const uuid = said === undefined ? undefined : textOf(said.message, "uuid")
  return said === undefined || uuid === undefined ? { name: "missing" } : { name: "found", message: uuid, at: said.at }
}

function hasUuid(message: HubEvent["message"]): boolean {
  return textOf(message, "uuid") !== undefined
}
