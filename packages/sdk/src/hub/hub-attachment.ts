import type { HubEvent, SessionState } from "@signalbox/client"
import { textOf } from "@signalbox/protocol"

/** Whether a query that has nothing more to say may leave its agent: not while something of its own is under way. */
export interface Attachment {
  /** What the log had when we came has been handed over. */
  readonly isLive: boolean
  readonly isConnected: boolean
  readonly isAgentHere: boolean
  readonly isInTurn: boolean
  /** The agent says by itself when it is idle. */
  readonly reportsState: boolean
  /** Our messages that no turn has begun for, and whether the hub's log has them. */
  readonly owed: ReadonlyMap<string, "sent" | "logged">
  readonly wantsEnd: boolean
}

export type AttachmentInput =
  | { readonly kind: "caught-up"; readonly state: SessionState }
  | { readonly kind: "connection"; readonly isConnected: boolean }
  | { readonly kind: "sent"; readonly uuid: string }
  | { readonly kind: "event"; readonly event: HubEvent }
  | { readonly kind: "end-wanted" }

export const initialAttachment: Attachment = {
  isLive: false,
  isConnected: false,
  isAgentHere: false,
  isInTurn: false,
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
        isInTurn: input.state === "running" || input.state === "waiting",
      }
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
    if (subtype === "connected") return { ...state, isAgentHere: true }
    return subtype === "disconnected" ? { ...state, isAgentHere: false } : state
  }
  if (from === "client") {
    const uuid = textOf(message, "uuid")
    return uuid === undefined || !state.owed.has(uuid)
      ? state
      : { ...state, owed: new Map(state.owed).set(uuid, "logged") }
  }
  if (type === "result") return { ...state, isInTurn: false }
  if (type !== "system") return state
  if (subtype === "session_state_changed") return { ...state, reportsState: true }
  if (subtype !== "init") return state
  const owed = new Map([...state.owed].filter(([, where]) => where === "sent"))
  return { ...state, isInTurn: true, owed }
}

/** `settle`: a message of ours is there and nothing has begun; it may have become part of the turn that was going on. */
export function judgeAttachment(state: Attachment, openQuestions: number): "stay" | "settle" | "leave" {
  if (!state.wantsEnd || !state.isLive || !state.isConnected) return "stay"
  if (state.isInTurn || openQuestions > 0) return "stay"
  if (state.owed.size === 0) return "leave"
  return state.isAgentHere ? "settle" : "stay"
}
