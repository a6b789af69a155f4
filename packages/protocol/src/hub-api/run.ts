import { z } from "zod"
import { Id, Moment, numberInQuery, type Told } from "./fields.ts"
import { BODY_BYTES, type RouteTable } from "./route-table.ts"

const Text = z.string().min(1).max(100_000)
const Note = z.string().max(10_000)
const TaskState = z.enum(["waiting", "running", "done", "failed"])
const RunState = z.enum(["running", "done", "failed", "stopped"])
const Options = z.record(z.string().max(200), z.unknown())

const taskFields = {
  session: Id.exactOptional(),
  tries: z.int().nonnegative().exactOptional(),
  /** Also those that were stopped, which count as no try. */
  turns: z.int().nonnegative().exactOptional(),
  costUsd: z.number().nonnegative().exactOptional(),
  note: Note.exactOptional(),
}

const RunTask = z.object({ text: z.string(), state: TaskState, ...taskFields }).meta({ id: "Task" })
/** One task of a run, as whoever works through the run tells it. */
export type RunTask = Told<z.output<typeof RunTask>>

const Run = z
  .object({
    id: z.string(),
    title: z.string(),
    state: RunState,
    createdAt: Moment,
    updatedAt: Moment,
    createdBy: z.string(),
    options: Options,
    note: Note.exactOptional(),
    tasks: z.array(RunTask),
  })
  .meta({ id: "Run" })
/** A list of tasks that a program works through. The hub keeps it, so that a program that died can go on. */
export type Run = Told<z.output<typeof Run>>

const RunPage = z.object({ runs: z.array(Run), more: z.boolean() })
export type RunPage = Told<z.output<typeof RunPage>>

const NewRun = z
  .strictObject({
    title: z.string().min(1).max(500),
    tasks: z
      .array(z.strictObject({ text: Text }))
      .min(1)
      .max(1_000),
    options: Options.exactOptional(),
  })
  .meta({ id: "NewRun" })
export type NewRun = Told<z.output<typeof NewRun>>

const RunPatch = z
  .strictObject({
    title: z.string().min(1).max(500).exactOptional(),
    state: RunState.exactOptional(),
    note: Note.exactOptional(),
  })
  .meta({ id: "RunPatch" })
export type RunPatch = Told<z.output<typeof RunPatch>>

const TaskPatch = z.strictObject({ state: TaskState.exactOptional(), ...taskFields }).meta({ id: "TaskPatch" })
export type TaskPatch = Told<z.output<typeof TaskPatch>>

const one = { reply: Run, replies: "the run" }

export const runRoutes = {
  "POST /api/runs": {
    access: "operator",
    summary: "Record a list of tasks that a program is about to work through",
    body: NewRun,
    maxBodyBytes: BODY_BYTES,
    status: 201,
    ...one,
  },
  "GET /api/runs": {
    access: "viewer",
    summary: "Runs, newest first",
    query: z.strictObject({ limit: numberInQuery({ min: 1, max: 500 }).default(100) }),
    reply: RunPage,
    replies: "the runs",
  },
  "GET /api/runs/:id": { access: "viewer", summary: "One run and its tasks", ...one },
  "PATCH /api/runs/:id": { access: "operator", summary: "Tell how a run is doing", body: RunPatch, ...one },
  "PATCH /api/runs/:id/tasks/:n": {
    access: "operator",
    summary: "Tell how one of its tasks is doing; they are counted from 1",
    body: TaskPatch,
    ...one,
  },
} as const satisfies RouteTable
