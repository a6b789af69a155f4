import {
  FoldersQuery,
  RecordedSessionList,
  RecordedSessionsQuery,
  Runner,
  RunnerFolders,
  RunnerList,
  RunnerLog,
  RunnerLogQuery,
  RunnerPatch,
} from "@signalbox/protocol/hub-api/schemas"
import type { HubCore } from "../../core.ts"
import { type Route, route, SMALL_BODY_BYTES } from "../route.ts"

export function machineRoutes(core: HubCore): Route[] {
  return [
    route({
      method: "GET",
      path: "/api/runners",
      access: "viewer",
      summary: "Machines that run agents",
      reply: { status: 200, description: "the runners", schema: RunnerList },
      handle: () => ({ runners: core.listRunners(), more: false }),
    }),
    route({
      method: "PATCH",
      path: "/api/runners/:id",
      access: "admin",
      summary: "Let a runner take no new agents, or take them again",
      body: { schema: RunnerPatch, maxBytes: SMALL_BODY_BYTES },
      reply: { status: 200, description: "the runner", schema: Runner },
      handle: ({ param, body, caller }) => core.changeRunner(param("id"), body, caller),
    }),
    route({
      method: "DELETE",
      path: "/api/runners/:id",
      access: "admin",
      summary: "Forget a runner that is away",
      reply: { status: 200, description: "the runner that was forgotten; its sessions stay", schema: Runner },
      handle: ({ param, caller }) => core.forgetRunner(param("id"), caller),
    }),
    route({
      method: "GET",
      path: "/api/runners/:id/folders",
      // Whoever may launch chooses where; others have no business in a machine's folders.
      access: "operator",
      summary: "Directories on that machine",
      query: FoldersQuery,
      reply: { status: 200, description: "as the runner tells it", schema: RunnerFolders },
      handle: ({ param, query }) => core.runnerFolders(param("id"), query.path),
    }),
    route({
      method: "GET",
      path: "/api/runners/:id/sessions",
      access: "operator",
      summary: "Sessions that claude itself recorded on that machine, for resume",
      query: RecordedSessionsQuery,
      reply: { status: 200, description: "as the runner tells it", schema: RecordedSessionList },
      handle: ({ param, query }) => core.runnerSessions(param("id"), query.cwd),
    }),
    route({
      method: "GET",
      path: "/api/runners/:id/log",
      // It names folders and sessions of that machine.
      access: "operator",
      summary: "The last lines of that runner's own log",
      query: RunnerLogQuery,
      reply: { status: 200, description: "as the runner tells it", schema: RunnerLog },
      handle: ({ param, query }) => core.runnerLog(param("id"), query.lines),
    }),
  ]
}
