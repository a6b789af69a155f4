import {
  CreatedSession,
  NewSessionBody,
  Session,
  SessionList,
  SessionListQuery,
  SessionPatch,
} from "@signalbox/protocol/hub-api/schemas"
import { launchRefusal } from "../../auth/roles.ts"
import type { HubCore } from "../../core.ts"
import { HubError } from "../../errors.ts"
import { BODY_BYTES, LARGE_BODY_BYTES, type Route, route } from "../route.ts"

export function sessionRoutes(core: HubCore): Route[] {
  return [
    route({
      method: "POST",
      path: "/api/sessions",
      access: "operator",
      summary: "Make a session and launch its agent; the same requestKey again is the same session",
      body: { schema: NewSessionBody, maxBytes: LARGE_BODY_BYTES },
      reply: { status: 201, description: "the session", schema: CreatedSession },
      handle({ body, caller }) {
        const refusal = launchRefusal(caller.role, body, core.getSettings())
        if (refusal !== undefined) throw new HubError("auth/forbidden", refusal)
        return core.createSession(body, caller)
      },
    }),
    route({
      method: "GET",
      path: "/api/sessions",
      access: "viewer",
      summary: "Sessions, newest first",
      query: SessionListQuery,
      reply: { status: 200, description: "a page of sessions, and the cursor of the next", schema: SessionList },
      handle: ({ query }) => core.listSessions(query),
    }),
    route({
      method: "GET",
      path: "/api/sessions/:id",
      access: "viewer",
      summary: "One session",
      reply: { status: 200, description: "the session", schema: Session },
      handle: ({ param }) => core.getSession(param("id")),
    }),
    route({
      method: "PATCH",
      path: "/api/sessions/:id",
      access: "operator",
      summary: "Change its title, or archive it",
      body: { schema: SessionPatch, maxBytes: BODY_BYTES },
      reply: { status: 200, description: "the session", schema: Session },
      handle: ({ param, body, caller }) => core.patchSession(param("id"), body, caller),
    }),
    route({
      method: "DELETE",
      path: "/api/sessions/:id",
      access: "operator",
      summary: "Stop its agent, keep its history",
      reply: { status: 200, description: "the session", schema: Session },
      handle: ({ param, caller }) => core.endSession(param("id"), caller),
    }),
    route({
      method: "DELETE",
      path: "/api/sessions/:id/worktree",
      access: "operator",
      summary: "Remove the git worktree that was made for it; refused while it has changes that are not committed",
      reply: { status: 200, description: "the session", schema: Session },
      handle: ({ param, caller }) => core.removeWorktree(param("id"), caller),
    }),
  ]
}
