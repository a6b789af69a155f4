import { fieldOf, isObject, textOf } from "../base/wire.ts"

/**
 * When is a run over, so that the agent's input may end? Ending it early is what loses questions: from then on a
 * permission, a hook or an in-process tool cannot be answered. The rule is [Q20]–[Q24] of docs/spec/sdk.md.
 */
export interface RunState {
  /** Prompts that may still yield messages. */
  readonly openPrompts: number
  /** A prompt was a text: whoever gives one leaves the end of the input to us, and may call the agent until its result. */
  readonly hasTextPrompt: boolean
  readonly messagesSent: number
  readonly results: number
  /** What the agent says of itself; an old CLI says nothing. */
  readonly reported: "nothing" | "idle" | "busy"
  /** A turn has begun and has no result yet. */
  readonly isInTurn: boolean
  /** A message was sent, and no turn has begun since: what the agent says of itself may be older than the message. */
  readonly owesTurn: boolean
  /** A task ended while nothing was going on: the agent is about to tell the model, or it is not. */
  readonly mayWake: boolean
  readonly tasks: ReadonlySet<string>
  /** Whether the agent tells the whole set of its tasks; then what it tells of single ones does not count. */
  readonly tellsTasks: boolean
}

export type RunInput =
  | { readonly kind: "prompt-opened"; readonly isText: boolean }
  | { readonly kind: "prompt-ended" }
  | { readonly kind: "message-sent" }
  /** All that was heard so far is history: it happened before we came. */
  | { readonly kind: "caught-up" }
  | { readonly kind: "result" }
  | { readonly kind: "system"; readonly message: Readonly<Record<string, unknown>> }

export const initialRunState: RunState = {
  openPrompts: 0,
  hasTextPrompt: false,
  messagesSent: 0,
  results: 0,
  reported: "nothing",
  isInTurn: false,
  owesTurn: false,
  mayWake: false,
  tasks: new Set(),
  tellsTasks: false,
}

export function stepRun(state: RunState, input: RunInput): RunState {
  switch (input.kind) {
    case "prompt-opened":
      return {
        ...state,
        openPrompts: state.openPrompts + 1,
        hasTextPrompt: state.hasTextPrompt || input.isText,
      }
    case "prompt-ended":
      return { ...state, openPrompts: state.openPrompts - 1 }
    case "message-sent":
      return { ...state, messagesSent: state.messagesSent + 1, owesTurn: true }
    case "caught-up":
      return { ...initialRunState, openPrompts: state.openPrompts, messagesSent: state.messagesSent }
    case "result":
      return { ...state, results: state.results + 1, isInTurn: false }
    case "system":
      return stepSystem(state, input.message)
  }
}

/** Requests that wait for their answer, and whether the agent may still send one. */
export interface InFlight {
  /** The agent's, that we have not answered. */
  readonly asked: number
  /** Ours, that the agent has not answered. An old CLI never answers one it does not know. */
  readonly calls: number
  /** The program has something to answer with: a callback, a hook, a server of its own. */
  readonly mayBeAsked: boolean
}

/** `settling`: it looks over, but something may be under way that was not heard of; the time says when it will have been. */
export type RunVerdict =
  | { readonly kind: "open" }
  | { readonly kind: "settling"; readonly ms: number }
  | { readonly kind: "over" }

const OPEN: RunVerdict = { kind: "open" }
const OVER: RunVerdict = { kind: "over" }
const SETTLING: RunVerdict = { kind: "settling", ms: 3000 }
const AWAITING_CALLS: RunVerdict = { kind: "settling", ms: 30_000 }

export function judgeRun(state: RunState, inFlight: InFlight): RunVerdict {
  if (state.openPrompts > 0 || inFlight.asked > 0) return OPEN
  // Nobody will be asked anything: the end of the iterable is the end of the input, as some agents need to begin.
  const isOneWay = !state.hasTextPrompt && !inFlight.mayBeAsked && state.tasks.size === 0
  if (state.messagesSent > 0 && !isOneWay && isAtWork(state)) return OPEN
  if (inFlight.calls > 0) return AWAITING_CALLS
  if (state.messagesSent === 0 || isOneWay) return OVER
  if (state.mayWake) return SETTLING
  // Several messages may have been answered by one turn, and only a CLI that reports its state tells that it is done.
  if (state.reported === "nothing") return state.results < state.messagesSent ? SETTLING : OVER
  return state.owesTurn ? SETTLING : OVER
}

function isAtWork(state: RunState): boolean {
  return state.results === 0 || state.isInTurn || state.tasks.size > 0 || state.reported === "busy"
}

function stepSystem(state: RunState, message: Readonly<Record<string, unknown>>): RunState {
  switch (message["subtype"]) {
    case "init":
      return { ...state, isInTurn: true, owesTurn: false, mayWake: false }
    case "session_state_changed":
      return stepReported(state, message["state"])
    case "background_tasks_changed":
      return tasksAre({ ...state, tellsTasks: true }, new Set(idsOf(message["tasks"])))
    case "task_started":
      return stepStarted(state, message)
    case "task_notification":
      return stepEnded(state, textOf(message, "task_id"))
    case "task_updated":
      return stepUpdated(state, message)
    default:
      return state
  }
}

function stepReported(state: RunState, reported: unknown): RunState {
  // Idle is said when all that was known is done, tasks that ended meanwhile included; not so a message on its way.
  if (reported === "idle") return { ...state, reported: "idle", isInTurn: false, mayWake: false }
  return { ...state, reported: "busy", owesTurn: false, mayWake: false }
}

function stepStarted(state: RunState, message: Readonly<Record<string, unknown>>): RunState {
  const id = textOf(message, "task_id")
  const isWaitedFor = message["is_backgrounded"] !== false && message["ambient"] !== true
  if (id === undefined || !isWaitedFor || state.tellsTasks) return state
  return tasksAre(state, new Set([...state.tasks, id]))
}

function stepUpdated(state: RunState, message: Readonly<Record<string, unknown>>): RunState {
  const patch = fieldOf(message, "patch")
  const status = patch?.["status"]
  if (status === "completed" || status === "failed" || status === "killed") {
    return stepEnded(state, textOf(message, "task_id"))
  }
  return patch?.["is_backgrounded"] === true ? stepStarted(state, { ...message, is_backgrounded: true }) : state
}

function stepEnded(state: RunState, id: string | undefined): RunState {
  if (state.tellsTasks || id === undefined) return state
  return tasksAre(state, new Set([...state.tasks].filter((task) => task !== id)))
}

function tasksAre(state: RunState, tasks: ReadonlySet<string>): RunState {
  const hasEnded = [...state.tasks].some((task) => !tasks.has(task))
  return { ...state, tasks, mayWake: state.mayWake || hasEnded }
}

/** Ambient tasks run for as long as the agent does; nobody waits for those. */
function idsOf(tasks: unknown): string[] {
  if (!Array.isArray(tasks)) return []
  return tasks.flatMap((task: unknown) => {
    const id = textOf(task, "task_id")
    return id === undefined || (isObject(task) && task["ambient"] === true) ? [] : [id]
  })
}
