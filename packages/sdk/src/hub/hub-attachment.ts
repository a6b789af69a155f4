import type { HubEvent, SessionState } from "@signalbox/client"
import { textOf } from "@signalbox/protocol"

/**
 * `doubtful`: an agent came back in the middle of it. The same process goes on with it; another knows nothing of it.
 * `lost`: it was another.
 */
type Turn = "none" | "running" | "doubtful" | "lost"

/** Whether a query that has nothing more to say may leave its agent: not while something of its own is under way. */
export interface Attachment {
  /** The log's lines from before we came have been handed over. */
  readonly isLive: boolean
  readonly isConnected: boolean
  readonly isAgentHere: boolean
  readonly turn: Turn
  /** The session's state, as the hub last told it. */
  readonly says: SessionState | undefined
  /** The agent says by itself when it is idle. */
  readonly reportsState: boolean
  /** Our messages that no turn has begun for, and whether the hub's log has them. */
  readonly owed: ReadonlyMap<string, "sent" | "logged">
  readonly wantsEnd: boolean
}

export type AttachmentInput =
  | { readonly kind: "caught-up"; readonly state: SessionState }
  | { readonly kind: "connection"; readonly isConnected: boolean }
  | { readonly kind: "state"; readonly state: SessionState }
  | { readonly kind: "sent"; readonly uuid: string }
  | { readonly kind: "event"; readonly event: HubEvent }
  | { readonly kind: "end-wanted" }

export const initialAttachment: Attachment = {
  isLive: false,
  isConnected: false,
  isAgentHere: false,
  turn: "none",
  says: undefined,
  reportsState: false,
  owed: new Map(),
  wantsEnd: false,
}

export function stepAttachment(state: Attachment, input: AttachmentInput): Attachment {
  switch (input.kind) {
    case "caught-up":
      return {
        ...state,
        isLive: true,
        isAgentHere: input.state !== "starting" && input.state !== "disconnected",
        turn: input.state === "running" || input.state === "waiting" ? "running" : "none",
        says: input.state,
      }
    case "state":
      return { ...state, says: input.state }
    case "connection":
      return { ...state, isConnected: input.isConnected }
    case "sent":
      return { ...state, owed: new Map(state.owed).set(input.uuid, "sent") }
    case "event":
      return stepEvent(state, input.event)
    case "end-wanted":
      return { ...state, wantsEnd: true }
  }
}

function stepEvent(state: Attachment, { from, message }: HubEvent): Attachment {
  const { type, subtype } = message
  if (from === "hub") {
    if (subtype === "connected") {
      return { ...state, isAgentHere: true, turn: state.turn === "running" ? "doubtful" : state.turn }
    }
    return subtype === "disconnected" ? { ...state, isAgentHere: false } : state
  }
  if (from === "client") {
    const uuid = textOf(message, "uuid")
    return uuid === undefined || !state.owed.has(uuid)
      ? state
      : { ...state, owed: new Map(state.owed).set(uuid, "logged") }
  }
  if (type === "result") return { ...state, turn: "none" }
  if (type !== "system") return state
  if (subtype === "session_state_changed") return { ...state, reportsState: true }
  if (subtype !== "init") return state
  const owed = new Map([...state.owed].filter(([, where]) => where === "sent"))
  // Turns of one process do not overlap: a new one has begun, and the one before had no result.
  return { ...state, turn: state.turn === "doubtful" ? "lost" : "running", owed }
}

/** `settle`: a message of ours is there and nothing has begun; it may have become part of the turn that was going on. */
export function judgeAttachment(state: Attachment, openQuestions: number): "stay" | "settle" | "leave" {
  if (!state.wantsEnd || !state.isLive || !state.isConnected) return "stay"
  if (state.turn !== "none" || openQuestions > 0) return "stay"
  if (state.owed.size === 0) return "leave"
  return state.isAgentHere ? "settle" : "stay"
}

/**
 * Whether the turn under way may still get its result. `away`: its process is, and may come back. `settle`: the hub says
 * that nothing goes on, unless the result is still on its way to us.
 */
export function judgeTurn({ isLive, turn, isAgentHere, says }: Attachment): "sound" | "away" | "settle" | "lost" {
  if (!isLive || turn === "none") return "sound"
  if (turn === "lost") return "lost"
  if (!isAgentHere) return "away"
  return turn === "doubtful" && says === "idle" ? "settle" : "sound"
}

/** Something was asked of the agent, and its answer is not all there. */
export function isOwedSomething({ turn, owed }: Attachment): boolean {
  return turn !== "none" || owed.size > 0
}

/** The agent's questions that wait for our answer, also beyond the connection that brought them. */
export class OpenQuestions {
  readonly open = new Set<string>()
  /** Questions of a lost connection: the next one tells which of them are still open. */
  readonly doubtful = new Set<string>()

  get size(): number {
    return this.open.size + this.doubtful.size
  }

  /** The connection is lost, and whether they are still open is not known. */
  doubtAll(): void {
    for (const id of this.open) this.doubtful.add(id)
    this.open.clear()
  }

  /** These are open, says the next connection. Returns those that no longer are. */
  confirm(ids: readonly string[]): string[] {
    const over = [...this.doubtful].filter((id) => !ids.includes(id))
    this.doubtful.clear()
    for (const id of ids) this.open.add(id)
    return over
  }
}
