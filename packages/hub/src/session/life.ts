import { type AgentState, idleAgent, stepAgent } from "@signalbox/protocol"
import type { SessionState } from "@signalbox/protocol/hub-api"
import type { KeptSession, SessionRecord } from "../model/session-record.ts"

/** Whether the process is the one that was here before; unknown when it did not say. Then its answer to `initialize` tells. */
export type Continuity = "same" | "new" | "unknown"

/** Where a session is in its life. `Line` is how its agent is reached, of which only the identity matters here. */
export type Life<Line> =
  /** A process was started, or is to be by hand, and was not here yet. */
  | { readonly name: "starting" }
  /** `isGreeted`: which process this is was decided, and `initialize` is on its wire. Nothing else goes to it before that. */
  | { readonly name: "live"; readonly line: Line; readonly isGreeted: boolean }
  /** The connection is over; the process may live and come back. */
  | { readonly name: "away" }
  /** Its process was put to rest: to everybody it is idle, and whatever is sent to it brings it back. */
  | { readonly name: "parked" }
  | { readonly name: "ended" }

export type LifeInput<Line> =
  | { readonly kind: "launched" }
  | { readonly kind: "connected"; readonly line: Line }
  | { readonly kind: "greeted"; readonly line: Line }
  /** Without a line: whichever is here. */
  | { readonly kind: "disconnected"; readonly line?: Line }
  /** Its conversation goes on in another session, which took its line over. */
  | { readonly kind: "handed-over" }
  | { readonly kind: "took-over"; readonly line: Line }
  | { readonly kind: "parked" }
  | { readonly kind: "ended" }

export type LifeEffect<Line> =
  /** What was asked over this line will not be answered. */
  | { readonly do: "close"; readonly line: Line }
  /** Whoever waits for the agent is told that it is here, or that it will not come. */
  | { readonly do: "tell-arrival"; readonly isHere: boolean }
  /** The sentence in progress will not go on. */
  | { readonly do: "drop-sentence" }
  /** No process is left to hear an answer. */
  | { readonly do: "orphan-asks" }

interface Step<Line> {
  readonly life: Life<Line>
  readonly effects: readonly LifeEffect<Line>[]
}

/** What an input makes of a session's life, and what has to be done for it, in this order. Inputs that come too late change nothing. */
export function stepLife<Line>(life: Life<Line>, input: LifeInput<Line>): Step<Line> {
  const close = life.name === "live" ? [{ do: "close", line: life.line } as const] : []
  switch (input.kind) {
    case "launched":
      return { life: { name: "starting" }, effects: close }
    case "connected":
      return { life: { name: "live", line: input.line, isGreeted: false }, effects: close }
    case "greeted":
      if (life.name !== "live" || life.line !== input.line) return { life, effects: [] }
      return { life: { ...life, isGreeted: true }, effects: [{ do: "tell-arrival", isHere: true }] }
    case "disconnected":
      if (life.name !== "live" || (input.line !== undefined && life.line !== input.line)) return { life, effects: [] }
      return { life: { name: "away" }, effects: [...close, { do: "drop-sentence" }] }
    case "handed-over":
      // The line goes on elsewhere: what was asked over it is answered there.
      return { life: { name: "ended" }, effects: [{ do: "drop-sentence" }] }
    case "took-over":
      // It speaks, and a new process says nothing before it is spoken to.
      return { life: { name: "live", line: input.line, isGreeted: true }, effects: close }
    case "parked":
      return life.name === "parked" || life.name === "ended" ? { life, effects: [] } : over(life, "parked")
    case "ended":
      return life.name === "ended" ? { life, effects: [] } : over(life, "ended")
  }
}

function over<Line>(life: Life<Line>, name: "parked" | "ended"): Step<Line> {
  const close = life.name === "live" ? [{ do: "close", line: life.line } as const] : []
  return {
    life: { name },
    effects: [...close, { do: "drop-sentence" }, { do: "tell-arrival", isHere: false }, { do: "orphan-asks" }],
  }
}

/** Where a session is that was in the store. A hub that was killed may have left its last state behind what happened. */
export function lifeAtStart({ record: { state }, own }: KeptSession): Life<never> {
  if (own.launch?.isParked === true && state !== "ended") return { name: "parked" }
  if (state === "ended") return { name: "ended" }
  // Its end was told, and the hub was killed before it had noted all of it.
  if (own.launch?.spawn === null) return { name: "ended" }
  return state === "starting" ? { name: "starting" } : { name: "away" }
}

/** What everybody is told of it. */
export function phaseOf(
  life: Life<unknown>,
  { state, pendingAsks }: { state: AgentState; pendingAsks: number },
): SessionState {
  switch (life.name) {
    case "starting":
    case "ended":
      return life.name
    case "away":
      return "disconnected"
    case "parked":
      return "idle"
    case "live":
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
