import { type Hub, HubClientError, type HubEvent } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useHub } from "../app/hub-context.ts"

/** Where in a session a fork begins: after something that its agent said. */
export type ForkPoint =
  | { readonly name: "end" }
  | { readonly name: "looking" }
  /** Without a time where only the message is known, from a launch before. */
  | { readonly name: "found"; readonly message: string; readonly at?: string }
  | { readonly name: "missing" }
  /** Nobody knows: what was meant to be left out must not be gone on from. */
  | { readonly name: "failed"; readonly why: string }

const END: ForkPoint = { name: "end" }
/** The address may name any event; what the agent said last before it is not far. */
const LOOKED_THROUGH = 200

/** `seq` is looked up; without one it is `message`, if that is known. */
export function useForkPoint(session: string | undefined, wanted: { seq: number; message: string | undefined }) {
  const { seq, message } = wanted
  const hub = useHub()
  const isLookedUp = session !== undefined && Number.isSafeInteger(seq) && seq > 0
  const known: ForkPoint = message === undefined ? END : { name: "found", message }
  const [point, setPoint] = useState<ForkPoint>(isLookedUp ? { name: "looking" } : known)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!isLookedUp) return undefined
    let isOver = false
    void findPoint(hub, session, seq).then((found) => (isOver ? undefined : setPoint(found)))
    return () => {
      isOver = true
    }
  }, [hub, session, seq, isLookedUp, tries])
  function retry(): void {
    setPoint({ name: "looking" })
    setTries(tries + 1)
  }
  return { point, retry }
}

export async function findPoint(hub: Pick<Hub, "session">, session: string, seq: number): Promise<ForkPoint> {
  try {
    const { events } = await hub.session(session).events({ before: seq + 1, limit: LOOKED_THROUGH })
    return forkPointIn(events)
  } catch (error) {
    // The hub has no such session: it is one that only the CLI knows.
    if (error instanceof HubClientError && error.status === 404) return { name: "missing" }
    return { name: "failed", why: error instanceof Error ? error.message : String(error) }
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
