import type { Rest } from "./rest.ts"

/** A list of tasks that a program works through, as it told the hub. A newer hub may tell more than is listed here. */
export interface Run {
  readonly id: string
  readonly title: string
  readonly state: "running" | "done" | "failed" | "stopped"
  readonly createdAt: string
  readonly updatedAt: string
  readonly createdBy: string
  readonly options: Readonly<Record<string, unknown>>
  readonly note?: string
  readonly tasks: readonly RunTask[]
}

export interface RunTask {
  readonly text: string
  readonly state: "waiting" | "running" | "done" | "failed"
  readonly session?: string
  readonly tries?: number
  /** Also those that were stopped, which count as no try. */
  readonly turns?: number
  readonly costUsd?: number
  readonly note?: string
}

export interface NewRun {
  readonly title: string
  readonly tasks: readonly { readonly text: string }[]
  readonly options?: Readonly<Record<string, unknown>>
}

export type RunChange = Partial<Pick<Run, "title" | "state" | "note">>
export type TaskChange = Partial<Omit<RunTask, "text">>

export interface HubRuns {
  /** Newest first. */
  list(query?: { readonly limit?: number }): Promise<{ readonly runs: readonly Run[]; readonly more: boolean }>
  create(run: NewRun): Promise<Run>
  get(id: string): Promise<Run>
  change(id: string, change: RunChange): Promise<Run>
  /** Tasks are counted from 1. */
  changeTask(id: string, number: number, change: TaskChange): Promise<Run>
}

export function hubRuns(rest: Rest): HubRuns {
  const pathOf = (id: string) => `/api/runs/${encodeURIComponent(id)}`
  return {
    list: (query = {}) => rest.call({ method: "GET", path: "/api/runs", query, repeatable: true }),
    // Not repeated: a second one would be another run.
    create: (body) => rest.call({ method: "POST", path: "/api/runs", body }),
    get: (id) => rest.call({ method: "GET", path: pathOf(id), repeatable: true }),
    change: (id, body) => rest.call({ method: "PATCH", path: pathOf(id), body, repeatable: true }),
    changeTask: (id, number, body) =>
      rest.call({ method: "PATCH", path: `${pathOf(id)}/tasks/${number}`, body, repeatable: true }),
  }
}
