import { type AgentState, idleAgent, stepAgent } from "@signalbox/protocol"
import type { SessionState } from "@signalbox/protocol/hub-api"
import type { KeptSession, SessionRecord } from "../model/session-record.ts"
import type { AgentControl } from "./agent-control.ts"
import type { AgentWire } from "./agent-wire.ts"

/** Whether the process is the one that was here before; unknown when it did not say. Then its answer to `initialize` tells. */
export type Continuity = "same" | "new" | "unknown"

/** A session's agent, as far as it is here. */
export type Connection =
  | { readonly name: "never" }
  /** `isGreeted`: which process this is was decided, and `initialize` is on its wire. Nothing else goes to it before that. */
  | {
      readonly name: "connected"
      readonly wire: AgentWire
      readonly control: AgentControl
      readonly isGreeted: boolean
    }
  | { readonly name: "away" }
  /** Its process was put to rest: to everybody it is idle, and whatever is sent to it brings it back. */
  | { readonly name: "parked" }
  | { readonly name: "ended" }

export function connectionAtStart({ record: { state }, own }: KeptSession): Connection {
  if (own.launch?.isParked === true && state !== "ended") return { name: "parked" }
  if (state === "ended") return { name: "ended" }
  // Its end was told, and the hub was killed before it had noted all of it.
  if (own.launch?.spawn === null) return { name: "ended" }
  return state === "starting" ? { name: "never" } : { name: "away" }
}

/** What everybody is told of it. */
export function phaseOf(
  connection: Connection,
  { state, pendingAsks }: { state: AgentState; pendingAsks: number },
): SessionState {
  switch (connection.name) {
    case "ended":
      return "ended"
    case "never":
      return "starting"
    case "away":
      return "disconnected"
    case "parked":
      return "idle"
    case "connected":
      if (pendingAsks > 0) return "waiting"
      return state.turn !== "none" ? "running" : "idle"
  }
}

/** A turn that was under way when the hub went down is taken to be still under way, and so is one whose message is on its way. */
export function stateAtStart({ turnStartedAt }: SessionRecord, openMessages = 0): AgentState {
  return turnStartedAt === undefined && openMessages === 0 ? idleAgent : AWAITED
}

/** State of a process that has said nothing yet. Waiting messages are its work, so it is never shown as idle first. */
export function stateOfNew(waiting: number): AgentState {
  return waiting === 0 ? idleAgent : AWAITED
}

const AWAITED = stepAgent(idleAgent, { from: "host", message: { type: "user" } })
