/** A run of tasks: what there is of it, and what is to be done. Pure; `run-step.ts` moves it. */
import { defined, sumUsd } from "@signalbox/protocol"

export interface Plan {
  readonly atOnce: number
  readonly tries: number
  /** Whether a command decides if a task is done; without one the end of the agent's turn does. */
  readonly checks: boolean
  readonly maxCostUsd?: number
  readonly maxTurns?: number
}

export interface TaskFacts {
  /** From 1, as people count. */
  readonly number: number
  readonly text: string
  /** Turns that were brought to their end, or are under way: one that was stopped counts as none. */
  readonly tries: number
  /** Turns that were begun for it. */
  readonly turns: number
  readonly costUsd: number
  readonly session?: string
  readonly note?: string
}

/**
 * - `waiting`: not begun; with turns, it was stopped and goes on in its session
 * - `cut`: its turn was begun by a loop that died, and is taken up again
 * - `leaving`: its agent is being stopped
 */
export type Task =
  | (TaskFacts & { readonly state: Exclude<TaskState, "working"> })
  /** `asks`: somebody is to answer before it goes on. */
  | (TaskFacts & { readonly state: "working"; readonly asks: boolean })

export type TaskState = "waiting" | "cut" | "working" | "checking" | "leaving" | "done" | "failed"

export type StopReason =
  | { readonly kind: "user" }
  | { readonly kind: "cost" }
  | { readonly kind: "turns" }
  /** Somebody answered an ask with deny-and-interrupt. */
  | { readonly kind: "person"; readonly by: string; readonly task: number }
  /** A reason that would hold for every task: no runner, no right, no folder. */
  | { readonly kind: "refused"; readonly message: string; readonly code: string }

type Outcome = "done" | "failed" | "stopped"

type Phase =
  | { readonly name: "running" }
  | { readonly name: "stopping"; readonly why: StopReason }
  | { readonly name: "over"; readonly outcome: Outcome; readonly why?: StopReason }

export interface RunState {
  readonly plan: Plan
  readonly phase: Phase
  readonly tasks: readonly Task[]
}

export type TurnEnd =
  | { readonly kind: "answered" }
  /** It may go better when it is told so. */
  | { readonly kind: "error"; readonly text: string }
  /** It is of no use to try again, or somebody does not want it. */
  | { readonly kind: "given-up"; readonly text: string }
  | { readonly kind: "halted"; readonly by: string }
  /** Its agent could not be started, and no other task's could. */
  | { readonly kind: "refused"; readonly message: string; readonly code: string }

export type RunInput =
  | { readonly type: "begin" }
  | { readonly type: "launched"; readonly task: number; readonly session: string }
  | { readonly type: "asks"; readonly task: number; readonly asks: boolean }
  | { readonly type: "turn"; readonly task: number; readonly end: TurnEnd; readonly costUsd?: number }
  /** `text` is what the agent is told of a check that failed, and `note` the same in a few words. */
  | {
      readonly type: "checked"
      readonly task: number
      readonly failure?: { readonly text: string; readonly note: string }
    }
  | { readonly type: "left"; readonly task: number; readonly costUsd?: number }
  | { readonly type: "stop" }

export type Effect =
  /** Begins the turn, or takes it up where it is: the same try again is the same turn. */
  | { readonly do: "turn"; readonly task: number; readonly message: string }
  | { readonly do: "check"; readonly task: number }
  /** Interrupts what its agent does and stops it; `left` tells when. */
  | { readonly do: "leave"; readonly task: number }
  /** Its agent is needed no more. */
  | { readonly do: "close"; readonly task: number }

export interface Step {
  readonly state: RunState
  readonly effects: readonly Effect[]
}

/** The task in another state. */
export function moved(task: Task, state: Exclude<TaskState, "working">): Task {
  return { ...factsOf(task), state }
}

/** A task that was broken off may still be possible: it counts as no try. */
export function stopped<Stopped extends Task>(task: Stopped): Stopped {
  return { ...task, tries: Math.max(0, task.tries - 1) }
}

export function factsOf({ number, text, tries, turns, costUsd, session, note }: TaskFacts): TaskFacts {
  return { number, text, tries, turns, costUsd, ...defined({ session, note }) }
}

export function isFinished({ state }: Task): boolean {
  return state === "done" || state === "failed"
}

export function isActive({ state }: Task): boolean {
  return state === "working" || state === "checking" || state === "leaving"
}

export function turnsOf({ tasks }: RunState): number {
  return tasks.reduce((sum, { turns }) => sum + turns, 0)
}

export function costOf({ tasks }: RunState): number {
  return sumUsd(...tasks.map(({ costUsd }) => costUsd))
}
