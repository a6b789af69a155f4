/**
 * The state of an agent, told by the lines that pass between it and its host. Pure: `stepAgent` takes a state and one line and
 * returns the next state, the same object when nothing changed. Clocks, connections and the end of the process are the
 * caller's. The rules are S2–S14 of docs/spec/control.md.
 */
import { type Envelope, fieldOf, isObject, textOf } from "./envelope.ts"

/** The agent's requests that a person answers. All others are for programs: hooks, MCP servers. */
export const questionSubtypes = ["can_use_tool", "elicitation", "request_user_dialog"] as const
export type QuestionSubtype = (typeof questionSubtypes)[number]

const QUESTIONS: ReadonlySet<unknown> = new Set(questionSubtypes)

export function isQuestion(subtype: unknown): subtype is QuestionSubtype {
  return QUESTIONS.has(subtype)
}

export type Turn =
  /** A message was sent, and nothing shows yet that the agent has begun. */
  "awaited" | "running" | "compacting"

/** A request of the agent that nobody has answered. */
export type OpenRequest =
  | { readonly kind: "question"; readonly toolUseId: string | undefined }
  | { readonly kind: "hook"; readonly callbackId: string; readonly event: string }
  | { readonly kind: "call" }

/** Told by the agent itself, at the start of every turn and when something changes. */
export interface AgentFacts {
  readonly session_id?: string
  readonly model?: string
  readonly permissionMode?: string
  readonly cwd?: string
  readonly claude_code_version?: string
  readonly capabilities?: readonly string[]
}

interface Known {
  /** By `request_id`. A result closes none: background tasks ask after one. */
  readonly open: ReadonlyMap<string, OpenRequest>
  /** The background tasks that somebody may wait for. Ambient ones run for as long as the agent does and do not count. */
  readonly tasks: ReadonlySet<string>
  /** Whether the agent tells the whole set of its tasks; then what it tells about single ones does not count. */
  readonly tellsTasks: boolean
  /** A task has ended since the last turn began: the agent may be about to tell the model. */
  readonly mayWake: boolean
  /** A message was sent, and no turn has begun since. The turn that was running may have taken it. */
  readonly owesTurn: boolean
  /** The agent's own report about itself; an older CLI reports nothing. */
  readonly reported: "nothing" | "idle" | "busy"
  readonly facts: AgentFacts
}

export type AgentState = Known &
  (
    | { readonly phase: "idle"; readonly turn: "none" }
    | { readonly phase: "working"; readonly turn: Turn }
    /** A person is asked, in a turn or by a background task. */
    | { readonly phase: "asked"; readonly turn: Turn | "none" }
  )

export interface AgentLine {
  readonly from: "agent" | "host"
  readonly message: Envelope
}

/** Our memory of an agent has to end somewhere, whatever the agent says. */
const MAX_KEPT = 10_000
const MAX_ID_CHARS = 1_024
const MAX_FACT_CHARS = 4_096
const MAX_CAPABILITIES = 1_000

export const idleAgent: AgentState = {
  phase: "idle",
  turn: "none",
  open: new Map(),
  tasks: new Set(),
  tellsTasks: false,
  mayWake: false,
  owesTurn: false,
  reported: "nothing",
  facts: {},
}

export function stepAgent(state: AgentState, { from, message }: AgentLine): AgentState {
  return from === "host" ? afterHost(state, message) : afterAgent(state, message)
}

/** No turn, no task, and nobody is waited for. */
export function isAtRest({ turn, open, tasks }: AgentState): boolean {
  return turn === "none" && open.size === 0 && tasks.size === 0
}

/** The agent's background tasks, where a message tells the whole set. */
export function backgroundTasksIn(message: Envelope): readonly string[] | undefined {
  const { type, subtype, tasks } = message
  if (type !== "system" || subtype !== "background_tasks_changed" || !Array.isArray(tasks)) return undefined
  return tasks.flatMap((task: unknown) => {
    const id = isObject(task) && task["ambient"] !== true ? idOf(task, "task_id") : undefined
    return id ?? []
  })
}

/** Reads what a message tells about the agent's session; no field is longer than a record can carry. */
export function factsIn(message: Envelope): AgentFacts {
  const { type, subtype, capabilities } = message
  if (type !== "system" || (subtype !== "init" && subtype !== "status")) return {}
  const facts: Record<string, unknown> = {}
  for (const name of ["session_id", "model", "permissionMode", "cwd", "claude_code_version"]) {
    const value = textOf(message, name)?.slice(0, MAX_FACT_CHARS)
    if (value !== undefined) facts[name] = value
  }
  if (Array.isArray(capabilities)) {
    const texts = capabilities.slice(0, MAX_CAPABILITIES).filter((item) => typeof item === "string")
    facts["capabilities"] = texts.map((text) => text.slice(0, MAX_ID_CHARS))
  }
  return facts
}

function afterHost(state: AgentState, message: Envelope): AgentState {
  switch (message.type) {
    case "user": {
      if (message["shouldQuery"] === false) return state
      // Working at once: a CLI needs some time until its init, and nobody should be told "idle" meanwhile.
      return moved(state, { owesTurn: true, turn: state.turn === "none" ? "awaited" : state.turn })
    }
    case "control_response":
      return closed(state, idOf(fieldOf(message, "response"), "request_id"))
    default:
      return state
  }
}

function afterAgent(state: AgentState, message: Envelope): AgentState {
  switch (message.type) {
    case "assistant":
    case "stream_event": {
      // A host that joins in mid-turn has missed the init. Sub-agents may speak in the background of an idle agent.
      const isHeard = state.turn === "running" || state.turn === "compacting" || message["parent_tool_use_id"] != null
      return isHeard ? state : moved(state, TURN_BEGAN)
    }
    case "result":
      return moved(state, { turn: "none" })
    case "control_request":
      return opened(state, message)
    case "control_cancel_request":
      return closed(state, idOf(message, "request_id"))
    case "system":
      return afterSystem(state, message)
    default:
      return state
  }
}

const TURN_BEGAN = { turn: "running", owesTurn: false, mayWake: false } as const

function afterSystem(state: AgentState, message: Envelope): AgentState {
  switch (message["subtype"]) {
    case "init":
      return moved(state, { ...TURN_BEGAN, ...knowing(state, message) })
    case "status":
      return moved(state, { turn: turnAt(state, message["status"]), ...knowing(state, message) })
    case "session_state_changed":
      return afterReport(state, message["state"])
    case "background_tasks_changed": {
      const tasks = backgroundTasksIn(message)
      return tasks === undefined ? state : withTasks(state, tasks, { tellsTasks: true })
    }
    case "task_started":
      return taskStarted(state, message)
    case "task_notification":
      return taskEnded(state, message)
    case "task_updated":
      return taskUpdated(state, message)
    default:
      return state
  }
}

/** A null status ends a compaction; one that only tells a new permission mode changes nothing else. */
function turnAt({ turn }: AgentState, status: unknown): Turn | "none" {
  if (status === "compacting") return "compacting"
  // Nothing is begun by a request to the model alone: background tasks make them too.
  if (turn === "none") return turn
  return turn === "compacting" || status === "requesting" ? "running" : turn
}

/** `requires_action` says that a question is open, which the question itself has told. */
function afterReport(state: AgentState, reported: unknown): AgentState {
  // Idle is said when all that the agent knew of is done, ended tasks included; a message may be on its way to it.
  if (reported === "idle") return moved(state, { reported: "idle", turn: "none", mayWake: false })
  const turn = reported === "running" && (state.turn === "none" || state.turn === "awaited") ? "running" : state.turn
  return moved(state, { reported: "busy", turn, owesTurn: false, mayWake: false })
}

function taskStarted(state: AgentState, message: Envelope): AgentState {
  const id = idOf(message, "task_id")
  // A foreground task ends with its turn. CLIs that do not say which it is tell the end of both.
  const isWaitedFor = message["is_backgrounded"] !== false && message["ambient"] !== true
  if (id === undefined || !isWaitedFor || state.tellsTasks || state.tasks.has(id)) return state
  return withTasks(state, [...state.tasks, id])
}

const ENDED: ReadonlySet<unknown> = new Set(["completed", "failed", "killed", "stopped"])

function taskUpdated(state: AgentState, message: Envelope): AgentState {
  const patch = fieldOf(message, "patch")
  if (ENDED.has(patch?.["status"])) return taskEnded(state, message)
  return patch?.["is_backgrounded"] === true ? taskStarted(state, { ...message, is_backgrounded: true }) : state
}

function taskEnded(state: AgentState, message: Envelope): AgentState {
  const id = idOf(message, "task_id")
  if (id === undefined || state.tellsTasks || !state.tasks.has(id)) return state
  return withTasks(
    state,
    [...state.tasks].filter((task) => task !== id),
  )
}

function withTasks(state: AgentState, ids: readonly string[], change: Partial<Known> = {}): AgentState {
  const tasks = new Set(ids.slice(0, MAX_KEPT))
  const hasEnded = [...state.tasks].some((task) => !tasks.has(task))
  const isSame = !hasEnded && tasks.size === state.tasks.size
  return moved(state, { ...change, tasks: isSame ? state.tasks : tasks, mayWake: state.mayWake || hasEnded })
}

function opened(state: AgentState, message: Envelope): AgentState {
  const id = idOf(message, "request_id")
  const request = fieldOf(message, "request")
  if (id === undefined || request === undefined || state.open.has(id)) return state
  const asked = requestOf(request)
  const open = new Map(state.open)
  // A CLI that asks again about the same tool call does not wait for the first answer any more.
  if (asked.kind === "question" && asked.toolUseId !== undefined) {
    for (const [other, before] of open) {
      if (before.kind === "question" && before.toolUseId === asked.toolUseId) open.delete(other)
    }
  }
  return open.size < MAX_KEPT ? moved(state, { open: open.set(id, asked) }) : state
}

function requestOf(request: Readonly<Record<string, unknown>>): OpenRequest {
  const { subtype } = request
  if (isQuestion(subtype)) return { kind: "question", toolUseId: idOf(request, "tool_use_id") }
  if (subtype !== "hook_callback") return { kind: "call" }
  const event = idOf(fieldOf(request, "input"), "hook_event_name") ?? ""
  return { kind: "hook", callbackId: idOf(request, "callback_id") ?? "", event }
}

function closed(state: AgentState, id: string | undefined): AgentState {
  if (id === undefined || !state.open.has(id)) return state
  const open = new Map(state.open)
  open.delete(id)
  return moved(state, { open })
}

function knowing({ facts }: AgentState, message: Envelope): Partial<Known> {
  const news = factsIn(message)
  const before: Readonly<Record<string, unknown>> = { ...facts }
  const isSame = Object.entries(news).every(([name, value]) => isSameFact(before[name], value))
  return isSame ? {} : { facts: { ...facts, ...news } }
}

function isSameFact(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((item, index) => item === b[index])
}

type Change = Partial<Known> & { readonly turn?: Turn | "none" }

function moved(state: AgentState, change: Change): AgentState {
  const before: Readonly<Record<string, unknown>> = { ...state }
  if (Object.entries(change).every(([name, value]) => before[name] === value)) return state
  const { phase: _before, turn, ...known } = { ...state, ...change }
  if ([...known.open.values()].some(({ kind }) => kind === "question")) return { ...known, phase: "asked", turn }
  return turn === "none" ? { ...known, phase: "idle", turn } : { ...known, phase: "working", turn }
}

/** An id longer than any CLI writes is taken for none. */
function idOf(value: unknown, name: string): string | undefined {
  const id = textOf(value, name)
  return id === undefined || id.length > MAX_ID_CHARS ? undefined : id
}
