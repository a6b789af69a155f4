/**
 * What a session is doing, derived from what passes on its wire. Pure: `step` takes a state and one input and returns
 * the next state, the same object when nothing changed. Timers, sockets and the log live with whoever calls it.
 */
import type { Envelope } from "./envelope.ts"
import { fieldOf, textOf } from "./envelope.ts"

/** What the agent would be doing if no question were open. */
export type Activity = "idle" | "running" | "compacting"

/** Told by the agent itself, at the start of every turn and when something changes. */
export interface SessionFacts {
  readonly session_id?: string
  readonly model?: string
  readonly permissionMode?: string
  readonly cwd?: string
  readonly claude_code_version?: string
  readonly capabilities?: readonly string[]
}

export type SessionPhase =
  /** No line from the agent yet. `activity` is what it will do once it speaks. */
  | { readonly phase: "starting"; readonly activity: Activity }
  | { readonly phase: "idle" }
  | { readonly phase: "running" }
  | { readonly phase: "compacting" }
  /** Questions of the agent are open. A result does not close them: background tasks ask after one. */
  | { readonly phase: "waiting"; readonly requestIds: readonly string[]; readonly activity: Activity }
  /** The connection is gone, the process may live. Open questions stay open. `hasSpoken`: whether a line ever came. */
  | {
      readonly phase: "disconnected"
      readonly requestIds: readonly string[]
      readonly activity: Activity
      readonly hasSpoken: boolean
    }
  | { readonly phase: "ended"; readonly exit: SessionExit }

export interface SessionExit {
  readonly exitCode?: number
  readonly signal?: string
  readonly reason?: string
}

export type SessionState = SessionPhase & { readonly facts: SessionFacts }

export type SessionInput =
  | { readonly kind: "connected" }
  | { readonly kind: "disconnected" }
  | { readonly kind: "ended"; readonly exit: SessionExit }
  /** A line that went to the agent. */
  | { readonly kind: "sent"; readonly message: Envelope }
  /** A line that came from the agent. */
  | { readonly kind: "received"; readonly message: Envelope }

export const initialSessionState: SessionState = { phase: "starting", activity: "idle", facts: {} }

export function stepSession(state: SessionState, input: SessionInput): SessionState {
  if (state.phase === "ended") return state
  switch (input.kind) {
    case "connected":
      return state.phase === "disconnected" ? backAgain(state) : state
    case "disconnected":
      return state.phase === "disconnected" ? state : goneAway(state)
    case "ended":
      return { phase: "ended", exit: input.exit, facts: state.facts }
    case "sent":
      return afterSent(state, input.message)
    case "received":
      return afterReceived(state, input.message)
  }
}

function goneAway(state: SessionState): SessionState {
  const hasSpoken = state.phase !== "starting"
  const [activity, requestIds] = [activityOf(state), openRequests(state)]
  return { phase: "disconnected", requestIds, activity, hasSpoken, facts: state.facts }
}

function backAgain(state: SessionState & { phase: "disconnected" }): SessionState {
  if (!state.hasSpoken) return { phase: "starting", activity: state.activity, facts: state.facts }
  return build(state.facts, state.activity, state.requestIds)
}

/** The ids of the agent's questions that nobody has answered yet. */
export function openRequests(state: SessionState): readonly string[] {
  return state.phase === "waiting" || state.phase === "disconnected" ? state.requestIds : []
}

function activityOf(state: SessionState): Activity {
  switch (state.phase) {
    case "idle":
    case "running":
    case "compacting":
      return state.phase
    case "starting":
    case "waiting":
    case "disconnected":
      return state.activity
    case "ended":
      return "idle"
  }
}

function build(facts: SessionFacts, activity: Activity, requestIds: readonly string[]): SessionState {
  if (requestIds.length > 0) return { phase: "waiting", requestIds, activity, facts }
  return { phase: activity, facts }
}

interface Change {
  readonly activity?: Activity
  readonly opened?: string
  readonly closed?: string
  readonly facts?: SessionFacts
}

function apply(state: SessionState, change: Change): SessionState {
  const activity = change.activity ?? activityOf(state)
  const requestIds = nextRequests(openRequests(state), change)
  const facts = nextFacts(state.facts, change.facts)
  const same = activity === activityOf(state) && requestIds === openRequests(state) && facts === state.facts
  if (state.phase === "starting") return same ? state : { phase: "starting", activity, facts }
  if (same || state.phase === "ended") return state
  if (state.phase === "disconnected") return { ...state, requestIds, activity, facts }
  return build(facts, activity, requestIds)
}

function nextRequests(open: readonly string[], { opened, closed }: Change): readonly string[] {
  if (opened !== undefined && !open.includes(opened)) return [...open, opened]
  if (closed !== undefined && open.includes(closed)) return open.filter((id) => id !== closed)
  return open
}

function nextFacts(facts: SessionFacts, news: SessionFacts | undefined): SessionFacts {
  if (news === undefined) return facts
  const before: Readonly<Record<string, unknown>> = { ...facts }
  const changed = Object.entries(news).some(([name, value]) => !sameFact(before[name], value))
  return changed ? { ...facts, ...news } : facts
}

function sameFact(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((item, index) => item === b[index])
}

function afterSent(state: SessionState, message: Envelope): SessionState {
  switch (message.type) {
    case "user":
      // Seen as running at once: a new CLI needs some time until its init, and a person should not be told "idle".
      return apply(state, { activity: "running" })
    case "control_response":
      return apply(state, closing(textOf(fieldOf(message, "response"), "request_id")))
    default:
      return state
  }
}

function afterReceived(before: SessionState, message: Envelope): SessionState {
  // The first line of any kind shows that the agent is there.
  const state = spoken(before)
  switch (message.type) {
    case "system":
      return afterSystem(state, message)
    case "assistant":
    case "stream_event":
      // Whoever joins in mid-turn has missed the init. Sub-agents may speak in the background of an idle session.
      return message["parent_tool_use_id"] == null ? apply(state, runningOf(state)) : state
    case "result":
      return apply(state, { activity: "idle" })
    case "control_request":
      return afterQuestion(state, message)
    case "control_cancel_request":
      return apply(state, closing(textOf(message, "request_id")))
    default:
      return state
  }
}

function spoken(state: SessionState): SessionState {
  if (state.phase === "starting") return build(state.facts, state.activity, [])
  return state.phase === "disconnected" && !state.hasSpoken ? { ...state, hasSpoken: true } : state
}

const QUESTIONS: ReadonlySet<string | undefined> = new Set(["can_use_tool", "elicitation", "request_user_dialog"])

function afterQuestion(state: SessionState, message: Envelope): SessionState {
  const opened = textOf(message, "request_id")
  if (opened === undefined || !QUESTIONS.has(textOf(fieldOf(message, "request"), "subtype"))) return state
  return apply(state, { opened })
}

function afterSystem(state: SessionState, message: Envelope): SessionState {
  switch (message["subtype"]) {
    case "init":
      return apply(state, { activity: "running", facts: factsOfInit(message) })
    case "status": {
      const mode = textOf(message, "permissionMode")
      const facts = mode === undefined ? {} : { facts: { permissionMode: mode } }
      return apply(state, { ...activityOfStatus(state, message), ...facts })
    }
    case "session_state_changed":
      return apply(state, activityOfReport(message["state"]))
    default:
      return state
  }
}

function activityOfStatus(state: SessionState, message: Envelope): Change {
  const status = message["status"]
  if (status === "compacting") return { activity: "compacting" }
  if (status === "requesting") return { activity: "running" }
  // A null status ends a compaction; a status that only tells a new permission mode changes nothing else.
  return activityOf(state) === "compacting" ? { activity: "running" } : {}
}

/** `requires_action` says that a question is open, which we know from the question itself. */
function activityOfReport(reported: unknown): Change {
  return reported === "idle" || reported === "running" ? { activity: reported } : {}
}

function runningOf(state: SessionState): Change {
  return activityOf(state) === "idle" ? { activity: "running" } : {}
}

function closing(requestId: string | undefined): Change {
  return requestId === undefined ? {} : { closed: requestId }
}

function factsOfInit(message: Envelope): SessionFacts {
  const facts: Record<string, unknown> = {}
  for (const name of ["session_id", "model", "permissionMode", "cwd", "claude_code_version"]) {
    const value = textOf(message, name)
    if (value !== undefined) facts[name] = value
  }
  const capabilities = message["capabilities"]
  if (Array.isArray(capabilities)) facts["capabilities"] = capabilities.filter((item) => typeof item === "string")
  return facts
}
