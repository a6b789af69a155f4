import type { ROUTES } from "@signalbox/protocol/hub-api/schemas"
import { mayAnswer } from "../auth/roles.ts"
import type { HubCore } from "../core.ts"
import { HubError } from "../errors.ts"
import { type Ask, publicAsk } from "../model/ask.ts"
import { jsonReply, pageJson, streamReply } from "./reply.ts"
import { AHEAD_BYTES } from "./reply-room.ts"
import type { Handlers } from "./route.ts"

/** What belongs to no session alone: asks, the policy and its grants, settings, runners and runs. */
export function hubHandlers(core: HubCore) {
  return {
    async "GET /api/asks"({ query: { order, ...filter }, reserve }) {
      const page = await core.listAsks({ ...filter, newestFirst: order === "newest" })
      reserve(page.largestBytes + AHEAD_BYTES)
      return streamReply(200, pageJson("asks", page, publicAsk))
    },
    "GET /api/asks/:id": async ({ params }) => publicAsk(await core.getAsk(params.id)),
    async "POST /api/asks/:id/answer"({ params, body, caller }) {
      const { inputHash, answerId, ...answer } = body
      if (!mayAnswer(caller.role, answer, core.getSettings())) {
        throw new HubError("auth/forbidden", "A permission mode without questions needs an admin token")
      }
      const how = {
        caller,
        ...(inputHash === undefined ? {} : { inputHash }),
        ...(answerId === undefined ? {} : { answerId }),
      }
      return publicAsk(await core.answerAsk(params.id, answer, how).catch(hidePrivateParts))
    },
    "POST /api/asks/:id/extend": async ({ params, body, caller }) =>
      publicAsk(await core.extendAsk(params.id, { caller, ...body }).catch(hidePrivateParts)),

    // The policy's own schema checked its rules; here they are only passed on.
    "GET /api/policy": () => jsonReply(200, core.getPolicy()),
    "PUT /api/policy": async ({ body, caller }) => jsonReply(200, await core.putPolicy(body, caller)),
    "GET /api/grants": async ({ query }) => ({ grants: await core.listGrants(query), more: false }),
    "DELETE /api/grants/:id": ({ params, caller }) => core.revokeGrant(params.id, caller),
    async "GET /api/audit"({ query, reserve }) {
      const page = await core.listAudit(query)
      reserve(page.largestBytes + AHEAD_BYTES)
      return streamReply(200, pageJson("records", page))
    },
    "GET /api/settings": () => core.getSettings(),
    "PUT /api/settings": ({ body, caller }) => core.putSettings(body, caller),

    "GET /api/runners": () => ({ runners: core.listRunners(), more: false }),
    "PATCH /api/runners/:id": ({ params, body, caller }) => core.changeRunner(params.id, body, caller),
    "DELETE /api/runners/:id": ({ params, caller }) => core.forgetRunner(params.id, caller),
    // A runner's reply is relayed as it came.
    "GET /api/runners/:id/folders": async ({ params, query }) =>
      jsonReply(200, await core.runnerFolders(params.id, query.path)),
    "GET /api/runners/:id/sessions": async ({ params, query }) =>
      jsonReply(200, await core.runnerSessions(params.id, query.cwd)),
    "GET /api/runners/:id/log": async ({ params, query }) =>
      jsonReply(200, await core.runnerLog(params.id, query.lines)),

    "POST /api/runs": ({ body, caller }) => core.createRun(body, caller),
    "GET /api/runs": ({ query }) => core.listRuns(query.limit),
    "GET /api/runs/:id": ({ params }) => core.getRun(params.id),
    "PATCH /api/runs/:id": ({ params, body }) => core.changeRun(params.id, body),
    "PATCH /api/runs/:id/tasks/:n": ({ params, body }) => core.changeRunTask(params.id, taskNumber(params.n), body),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

/** A refusal shows the ask it is about, and that one too without what only the hub needs. */
function hidePrivateParts(error: unknown): never {
  if (!(error instanceof HubError) || !isAsk(error.details["ask"])) throw error
  const details = { ...error.details, ask: publicAsk(error.details["ask"]) }
  throw new HubError(error.code, error.message, { cause: error, details })
}

/** Only asks have an incarnation, among everything that the core puts into an error. */
function isAsk(value: unknown): value is Ask {
  return typeof value === "object" && value !== null && "incarnation" in value
}

function taskNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new HubError("run/unknown", `a task is named by its number, from 1 on, not by "${text}"`)
}
