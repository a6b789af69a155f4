/** What an agent is about, as far as the governor must know it. */
export interface Activity {
  readonly isTurnRunning: boolean
  /** Requests of the agent that nobody has answered: its asks, and calls of hooks and tools. */
  readonly openRequests: ReadonlySet<string>
  /** Hook calls among the open requests, each with its callback. */
  readonly openHooks: ReadonlyMap<string, HookCall>
  /** And those for a program, such as one that hosts tools: whoever was asked is forgotten with the hub. */
  readonly openCalls: ReadonlySet<string>
  readonly backgroundTasks: ReadonlySet<string>
  /** The CLI's own id of the conversation. */
  readonly agentSessionId: string | undefined
  /** When it last said or was told something that counts. */
  readonly lastAt: number
  readonly turnEndedAt: number
}

export interface HookCall {
  readonly requestId: string
  readonly callbackId: string
  readonly event: string
}

export type ActivityInput =
  /** The hub came, or said something else: whatever follows, it is not forgotten. */
  | { readonly kind: "touched" }
  | { readonly kind: "message-sent" }
  | { readonly kind: "session"; readonly agentSessionId: string }
  | { readonly kind: "turn-began" }
  | { readonly kind: "turn-ended" }
  | { readonly kind: "requested"; readonly requestId: string }
  | { readonly kind: "hook-called"; readonly call: HookCall }
  | { readonly kind: "called"; readonly requestId: string }
  /** Answered, or taken back by the agent. */
  | { readonly kind: "settled"; readonly requestId: string }
  | { readonly kind: "task-started"; readonly taskId: string }
  | { readonly kind: "task-ended"; readonly taskId: string }
  | { readonly kind: "tasks"; readonly taskIds: readonly string[] }

/** An agent that answers none of so many requests is not idle in any case; the memory has to end somewhere. */
const MAX_OPEN = 10_000
/** A message that was written in the middle of a turn begins its own at once when that one ends, or was a part of it. */
const NEXT_TURN_MS = 1_000

export function restingActivity(now: number): Activity {
  return {
    isTurnRunning: false,
    openRequests: new Set(),
    openHooks: new Map(),
    openCalls: new Set(),
    backgroundTasks: new Set(),
    agentSessionId: undefined,
    lastAt: now,
    turnEndedAt: Number.NEGATIVE_INFINITY,
  }
}

export function stepActivity(before: Activity, input: ActivityInput, now: number): Activity {
  const state = { ...before, lastAt: now }
  switch (input.kind) {
    case "touched":
      return state
    case "message-sent":
    case "turn-began":
      return { ...state, isTurnRunning: true }
    case "turn-ended":
      return { ...state, isTurnRunning: false, turnEndedAt: now }
    case "session":
      return { ...state, agentSessionId: input.agentSessionId }
    case "requested":
      return { ...state, openRequests: withOne(state.openRequests, input.requestId) }
    case "hook-called": {
      const { call } = input
      const openRequests = withOne(state.openRequests, call.requestId)
      return { ...state, openRequests, openHooks: new Map(state.openHooks).set(call.requestId, call) }
    }
    case "called": {
      const { requestId } = input
      const openRequests = withOne(state.openRequests, requestId)
      return { ...state, openRequests, openCalls: withOne(state.openCalls, requestId) }
    }
    case "settled": {
      const { requestId } = input
      const openHooks = new Map(state.openHooks)
      openHooks.delete(requestId)
      return {
        ...state,
        openRequests: withoutOne(state.openRequests, requestId),
        openCalls: withoutOne(state.openCalls, requestId),
        openHooks,
      }
    }
    case "task-started":
      return { ...state, backgroundTasks: withOne(state.backgroundTasks, input.taskId) }
    case "task-ended":
      return { ...state, backgroundTasks: withoutOne(state.backgroundTasks, input.taskId) }
    case "tasks":
      return { ...state, backgroundTasks: new Set(input.taskIds.slice(0, MAX_OPEN)) }
  }
}

/** Nothing is under way and nobody is waited for. */
export function isIdle({ isTurnRunning, openRequests, backgroundTasks }: Activity): boolean {
  return !isTurnRunning && openRequests.size === 0 && backgroundTasks.size === 0
}

/** Idle, and not only between two turns. */
export function isAtRest(activity: Activity, now: number): boolean {
  return isIdle(activity) && now - activity.turnEndedAt >= NEXT_TURN_MS
}

function withOne(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (set.has(id) || set.size >= MAX_OPEN) return set
  return new Set(set).add(id)
}

function withoutOne(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  if (!set.has(id)) return set
  const rest = new Set(set)
  rest.delete(id)
  return rest
}
