import { createHash } from "node:crypto"
import type { Run, RunTask, TaskChange } from "@signalbox/client"
import { defined } from "@signalbox/protocol"
import { type JsonOption } from "../base/context.ts"
import { cutCells, onOneLine } from "../terminal/text.ts"
import { factsOf, type Plan, type RunState, type Task, type TaskState } from "./run-state.ts"

export interface LoopOptions extends JsonOption {
  readonly atOnce?: number
  readonly verify?: string
  readonly tries?: number
  readonly maxCost?: number
  readonly maxTurns?: number
  readonly worktrees?: boolean
  readonly resume?: string
  readonly list?: boolean
  readonly agent?: "claude" | "simulator"
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly arg: readonly string[]
}

/** How a run is worked through; recorded with it, so that it resumes the same way. */
export interface RunSettings extends Required<Pick<LoopOptions, "atOnce" | "tries" | "worktrees" | "agent">>, Limits {
  readonly args: readonly string[]
}
type Limits = Pick<LoopOptions, "verify" | "maxCost" | "maxTurns" | "cwd" | "model" | "mode">

const DEFAULT_TRIES = 3

/** Options that are given now override the recorded ones. */
export function runSettings(options: LoopOptions, recorded: Recorded = {}): RunSettings {
  return {
    atOnce: options.atOnce ?? numberIn(recorded, "atOnce") ?? 1,
    tries: options.tries ?? numberIn(recorded, "tries") ?? DEFAULT_TRIES,
    worktrees: options.worktrees ?? recorded["worktrees"] === true,
    agent: options.agent ?? (recorded["agent"] === "simulator" ? "simulator" : "claude"),
    args: options.arg.length > 0 ? options.arg : textsIn(recorded, "args"),
    ...defined({
      verify: options.verify ?? textIn(recorded, "verify"),
      maxCost: options.maxCost ?? numberIn(recorded, "maxCost"),
      maxTurns: options.maxTurns ?? numberIn(recorded, "maxTurns"),
      cwd: options.cwd ?? textIn(recorded, "cwd"),
      model: options.model ?? textIn(recorded, "model"),
      mode: options.mode ?? textIn(recorded, "mode"),
    }),
  }
}

export function planOf({ atOnce, tries, verify, maxCost, maxTurns }: RunSettings): Plan {
  return { atOnce, tries, checks: verify !== undefined, ...defined({ maxCostUsd: maxCost, maxTurns }) }
}

type Recorded = Readonly<Record<string, unknown>>

function textIn(recorded: Recorded, name: string): string | undefined {
  const value = recorded[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

function numberIn(recorded: Recorded, name: string): number | undefined {
  const value = recorded[name]
  return typeof value === "number" && value > 0 ? value : undefined
}

function textsIn(recorded: Recorded, name: string): readonly string[] {
  const value = recorded[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : []
}

const NOTE_CHARS = 500

/** A run as the hub recorded it. Tasks under way are resumed; finished ones stay finished. */
export function stateFrom(run: Pick<Run, "tasks">, plan: Plan): RunState {
  return { plan, phase: { name: "running" }, tasks: run.tasks.map((task, index) => taskFrom(task, index + 1)) }
}

function taskFrom(
  { text, state, tries = 0, turns = tries, costUsd = 0, session, note }: RunTask,
  number: number,
): Task {
  const isCut = state === "running" && turns > 0
  return {
    ...factsOf({ number, text, tries, turns, costUsd, ...defined({ session, note: note || undefined }) }),
    state: isCut ? "cut" : state === "running" ? "waiting" : state,
  }
}

/** A task as the hub records it. */
export function recordOf(task: Task): TaskChange {
  const { state, tries, turns, costUsd, session, note = "" } = task
  return { state: RECORDED[state], tries, turns, costUsd, note: shortNote(note), ...defined({ session }) }
}

/** A task that is being left counts as waiting: if the loop dies now, nobody but us ended its turn. */
const RECORDED: Readonly<Record<TaskState, RunTask["state"]>> = {
  waiting: "waiting",
  leaving: "waiting",
  cut: "running",
  working: "running",
  checking: "running",
  done: "done",
  failed: "failed",
}

export function shortNote(text: string): string {
  return cutCells(onOneLine(text), NOTE_CHARS)
}

/** The same turn of a task is the same message, whoever sends it, so that it is never sent twice. */
export function messageUuid(run: string, { number, turns }: Pick<Task, "number" | "turns">): string {
  const hash = createHash("sha256").update(`loop ${run} ${number} ${turns}`).digest("hex")
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** The same task of the same run is the same session. */
export function launchKey(run: string, number: number): string {
  return `loop/${run}/${number}`
}
