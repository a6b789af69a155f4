import type { ROUTES } from "@signalbox/protocol/hub-api/schemas"
import { launchRefusal, mayControl } from "../auth/roles.ts"
import type { HubCore } from "../core.ts"
import { HubError } from "../errors.ts"
import { eventPageJson, streamReply } from "./reply.ts"
import { AHEAD_BYTES } from "./reply-room.ts"
import type { Handlers } from "./route.ts"

/** Sessions, the messages to them and the events in them. */
export function sessionHandlers(core: HubCore) {
  return {
    "POST /api/sessions"({ body, caller }) {
      const refusal = launchRefusal(caller.role, body, core.getSettings())
      if (refusal !== undefined) throw new HubError("auth/forbidden", refusal)
      return core.createSession(body, caller)
    },
    "GET /api/sessions": ({ query }) => core.listSessions(query),
    "GET /api/sessions/:id": ({ params }) => core.getSession(params.id),
    "PATCH /api/sessions/:id": ({ params, body, caller }) => core.patchSession(params.id, body, caller),
    "DELETE /api/sessions/:id": ({ params, caller }) => core.endSession(params.id, caller),
    "DELETE /api/sessions/:id/worktree": ({ params, caller }) => core.removeWorktree(params.id, caller),

    "POST /api/sessions/:id/messages": ({ params, body, caller }) => core.sendMessage(params.id, body, caller),
    "DELETE /api/sessions/:id/messages/:uuid": ({ params, caller }) =>
      core.cancelMessage(params.id, params.uuid, caller),
    "POST /api/sessions/:id/interrupt": ({ params, caller }) => core.interrupt(params.id, caller),
    "POST /api/sessions/:id/control"({ params, body, caller }) {
      if (!mayControl(caller.role, body.request, core.getSettings())) throw controlForbidden(body.request)
      return core.control(params.id, body, caller)
    },
    "POST /api/sessions/:id/env": ({ params, body, caller }) => core.setEnvironment(params.id, body.variables, caller),

    async "GET /api/sessions/:id/events"({ params, query, reserve }) {
      const fromStart = query.before === undefined && query.around === undefined && query.after === undefined
      const page = await core.readEvents(params.id, fromStart ? { ...query, after: 0 } : query)
      reserve(page.largestPieceBytes + AHEAD_BYTES)
      return streamReply(200, eventPageJson(page))
    },
    "GET /api/sessions/:id/outline": async ({ params }) => ({ marks: await core.outline(params.id) }),
    "GET /api/search": ({ query: { in: fields, ...query } }) =>
      core.search({ ...query, ...(fields === undefined ? {} : { fields }) }),
  } satisfies Partial<Handlers<typeof ROUTES>>
}

function controlForbidden(request: { subtype: string }): HubError {
  const what = request.subtype === "set_permission_mode" ? "This permission mode" : `"${request.subtype}"`
  return new HubError("auth/forbidden", `${what} needs an admin token`)
}
