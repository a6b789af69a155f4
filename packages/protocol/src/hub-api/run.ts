import { z } from "zod"
import { Id, Moment, numberInQuery } from "./fields.ts"

const Text = z.string().min(1).max(100_000)
const Note = z.string().max(10_000)
const TaskState = z.enum(["waiting", "running", "done", "failed"])
const RunState = z.enum(["running", "done", "failed", "stopped"])
const Options = z.record(z.string().max(200), z.unknown())

const taskFields = {
  session: Id.exactOptional(),
  tries: z.int().nonnegative().exactOptional(),
  turns: z.int().nonnegative().exactOptional(),
  costUsd: z.number().nonnegative().exactOptional(),
  note: Note.exactOptional(),
}

export const Run = z
  .object({
    id: z.string(),
    title: z.string(),
    state: RunState,
    createdAt: Moment,
    updatedAt: Moment,
    createdBy: z.string(),
    options: Options,
    note: Note.exactOptional(),
    tasks: z.array(z.object({ text: z.string(), state: TaskState, ...taskFields }).meta({ id: "Task" })),
  })
  .meta({ id: "Run" })

export const RunList = z.object({ runs: z.array(Run), more: z.boolean() })
export const RunListQuery = z.strictObject({ limit: numberInQuery({ min: 1, max: 500 }).default(100) })

export const NewRunBody = z
  .strictObject({
    title: z.string().min(1).max(500),
    tasks: z
      .array(z.strictObject({ text: Text }))
      .min(1)
      .max(1_000),
    options: Options.exactOptional(),
  })
  .meta({ id: "NewRun" })

export const RunPatch = z
  .strictObject({
    title: z.string().min(1).max(500).exactOptional(),
    state: RunState.exactOptional(),
    note: Note.exactOptional(),
  })
  .meta({ id: "RunPatch" })

export const TaskPatch = z.strictObject({ state: TaskState.exactOptional(), ...taskFields }).meta({ id: "TaskPatch" })
