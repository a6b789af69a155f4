import {
  ControlBody,
  ControlReply,
  EnvironmentBody,
  EnvironmentReply,
  MessageCancelled,
  MessageReceipt,
  NewMessageBody,
  NoBody,
} from "@signalbox/protocol/hub-api/schemas"
import { mayControl } from "../../auth/roles.ts"
import type { HubCore } from "../../core.ts"
import { HubError } from "../../errors.ts"
import { BODY_BYTES, LARGE_BODY_BYTES, type Route, route, SMALL_BODY_BYTES } from "../route.ts"

export function messageRoutes(core: HubCore, maxMessageBytes = LARGE_BODY_BYTES): Route[] {
  return [
    route({
      method: "POST",
      path: "/api/sessions/:id/messages",
      access: "operator",
      summary: "Send a message to the agent; the same uuid again is the same message",
      body: { schema: NewMessageBody, maxBytes: maxMessageBytes },
      reply: { status: 202, description: "taken: it is in the log and will be delivered", schema: MessageReceipt },
      handle: ({ param, body, caller }) => core.sendMessage(param("id"), body, caller),
    }),
    route({
      method: "DELETE",
      path: "/api/sessions/:id/messages/:uuid",
      access: "operator",
      summary: "Cancel a message that is still queued",
      reply: { status: 200, description: "whether it was cancelled in time", schema: MessageCancelled },
      handle: ({ param, caller }) => core.cancelMessage(param("id"), param("uuid"), caller),
    }),
    route({
      method: "POST",
      path: "/api/sessions/:id/interrupt",
      access: "operator",
      summary: "Interrupt the turn; also fine when idle",
      body: { schema: NoBody, maxBytes: SMALL_BODY_BYTES, optional: true },
      reply: { status: 200, description: "the agent's answer", schema: ControlReply },
      handle: ({ param, caller }) => core.interrupt(param("id"), caller),
    }),
    route({
      method: "POST",
      path: "/api/sessions/:id/control",
      access: "operator",
      summary: "Send a control request to the agent",
      body: { schema: ControlBody, maxBytes: maxMessageBytes },
      reply: { status: 200, description: "the agent's answer", schema: ControlReply },
      handle({ param, body, caller }) {
        if (!mayControl(caller.role, body.request, core.getSettings())) throw controlForbidden(body.request)
        return core.control(param("id"), body, caller)
      },
    }),
    route({
      method: "POST",
      path: "/api/sessions/:id/env",
      access: "admin",
      summary: "Change environment variables of the agent",
      body: { schema: EnvironmentBody, maxBytes: BODY_BYTES },
      reply: {
        status: 200,
        description: "which variables the agent took and which it refused; null when it does not tell",
        schema: EnvironmentReply,
      },
      handle: ({ param, body, caller }) => core.setEnvironment(param("id"), body.variables, caller),
    }),
  ]
}

function controlForbidden(request: { subtype: string }): HubError {
  const what = request.subtype === "set_permission_mode" ? "This permission mode" : `"${request.subtype}"`
  return new HubError("auth/forbidden", `${what} needs an admin token`)
}
