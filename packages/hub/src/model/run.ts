type TaskState = "waiting" | "running" | "done" | "failed"

/** One task of a run, as whoever works through the run tells it. */
interface RunTask {
  readonly text: string
  readonly state: TaskState
  readonly session?: string
  readonly tries?: number
  /** Also those that were stopped, which count as no try. */
  readonly turns?: number
  readonly costUsd?: number
  readonly note?: string
}

type RunState = "running" | "done" | "failed" | "stopped"

/** A list of tasks that a program works through. The hub keeps it; it does not work on it. */
export interface Run {
  readonly id: string
  readonly title: string
  readonly state: RunState
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string
  readonly options: Readonly<Record<string, unknown>>
  readonly note?: string
  readonly tasks: readonly RunTask[]
}

export interface NewRun {
  readonly title: string
  readonly tasks: readonly { readonly text: string }[]
  readonly options?: Readonly<Record<string, unknown>>
}

export interface RunPatch {
  readonly title?: string
  readonly state?: RunState
  readonly note?: string
}

export type TaskPatch = Partial<Omit<RunTask, "text">>
