import { NewRunBody, Run, RunList, RunListQuery, RunPatch, TaskPatch } from "@signalbox/protocol/hub-api/schemas"
import type { HubCore } from "../../core.ts"
import { HubError } from "../../errors.ts"
import { BODY_BYTES, type Route, route, SMALL_BODY_BYTES } from "../route.ts"

/** Lists of tasks that programs work through. The hub keeps them, so that one who died can go on. */
export function runRoutes(core: HubCore): Route[] {
  const reply = { status: 200, description: "the run", schema: Run }
  return [
    route({
      method: "POST",
      path: "/api/runs",
      access: "operator",
      summary: "Record a list of tasks that a program is about to work through",
      body: { schema: NewRunBody, maxBytes: BODY_BYTES },
      reply: { ...reply, status: 201 },
      handle: ({ body, caller }) => core.createRun(body, caller),
    }),
    route({
      method: "GET",
      path: "/api/runs",
      access: "viewer",
      summary: "Runs, newest first",
      query: RunListQuery,
      reply: { status: 200, description: "the runs", schema: RunList },
      handle: ({ query }) => core.listRuns(query.limit),
    }),
    route({
      method: "GET",
      path: "/api/runs/:id",
      access: "viewer",
      summary: "One run and its tasks",
      reply,
      handle: ({ param }) => core.getRun(param("id")),
    }),
    route({
      method: "PATCH",
      path: "/api/runs/:id",
      access: "operator",
      summary: "Tell how a run is doing",
      body: { schema: RunPatch, maxBytes: SMALL_BODY_BYTES },
      reply,
      handle: ({ param, body }) => core.changeRun(param("id"), body),
    }),
    route({
      method: "PATCH",
      path: "/api/runs/:id/tasks/:n",
      access: "operator",
      summary: "Tell how one of its tasks is doing; they are counted from 1",
      body: { schema: TaskPatch, maxBytes: SMALL_BODY_BYTES },
      reply,
      handle: ({ param, body }) => core.changeRunTask(param("id"), taskNumber(param("n")), body),
    }),
  ]
}

function taskNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new HubError("run/unknown", `a task is named by its number, from 1 on, not by "${text}"`)
}
