import { createHash } from "node:crypto"
import type { Run, RunTask, TaskChange } from "@signalbox/client"
import { cut, onOneLine } from "../terminal/plain-text.ts"
import { type Plan, type RunState, type Task, type TaskState } from "./run-state.ts"

const NOTE_CHARS = 500

/** A run as the hub has it. What was under way is taken up again; what is finished stays so. */
export function stateFrom(run: Pick<Run, "tasks">, plan: Plan): RunState {
  return { plan, phase: { name: "running" }, tasks: run.tasks.map((task, index) => taskFrom(task, index + 1)) }
}

function taskFrom(
  { text, state, tries = 0, turns = tries, costUsd = 0, session, note }: RunTask,
  number: number,
): Task {
  const isCut = state === "running" && turns > 0
  return {
    number,
    text,
    tries,
    turns,
    costUsd,
    ...(session === undefined ? {} : { session }),
    ...(note === undefined || note === "" ? {} : { note }),
    state: isCut ? "cut" : state === "running" ? "waiting" : state,
  }
}

/** What the hub is told of a task. */
export function recordOf(task: Task): TaskChange {
  const { state, tries, turns, costUsd, session, note } = task
  return {
    state: recordedState(state),
    tries,
    turns,
    costUsd,
    note: note === undefined ? "" : shortNote(note),
    ...(session === undefined ? {} : { session }),
  }
}

/** One that is being left waits already: should the loop die now, the end of its turn is nobody's wish but ours. */
function recordedState(state: TaskState): RunTask["state"] {
  switch (state) {
    case "waiting":
    case "leaving":
      return "waiting"
    case "cut":
    case "working":
    case "checking":
      return "running"
    case "done":
    case "failed":
      return state
  }
}

export function shortNote(text: string): string {
  return cut(onOneLine(text), NOTE_CHARS)
}

/** The same turn of a task is the same message, whoever sends it: one that was sent before is not sent twice. */
export function messageUuid(run: string, { number, turns }: Pick<Task, "number" | "turns">): string {
  const hash = createHash("sha256").update(`loop ${run} ${number} ${turns}`).digest("hex")
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** The same task of the same run is the same session. */
export function launchKey(run: string, number: number): string {
  return `loop/${run}/${number}`
}
