import { textOf } from "../base/wire.ts"
import type { ElicitationRequest, UserDialogRequest } from "../types/interaction.ts"
import type { Options } from "../types/options.ts"
import { type AgentRequest, answer, type Responder, SILENCE } from "./agent-requests.ts"

/** Answers `elicitation`: declined when nobody is there to ask. */
export function elicitationResponder({ onElicitation }: Pick<Options, "onElicitation">): Responder {
  return async ({ id, body, signal }) => {
    if (onElicitation === undefined) return answer({ action: "decline" })
    const result = await onElicitation(elicitationOf(body), { signal, requestId: id })
    return result === null ? SILENCE : answer(result)
  }
}

/** Answers `request_user_dialog`: silent when nobody can show it, since another host may. */
export function dialogResponder({ onUserDialog }: Pick<Options, "onUserDialog">): Responder {
  return async ({ id, body, signal }) => {
    if (onUserDialog === undefined) return SILENCE
    const result = await onUserDialog(dialogOf(body), { signal, requestId: id })
    return result === null ? SILENCE : answer(result)
  }
}

// The overloads are the agent's promise of what it sends; here it only gets the program's names.
function elicitationOf(body: AgentRequest["body"]): ElicitationRequest
function elicitationOf(body: AgentRequest["body"]): unknown {
  return {
    serverName: body["mcp_server_name"],
    message: body["message"],
    mode: body["mode"],
    url: body["url"],
    elicitationId: body["elicitation_id"],
    requestedSchema: body["requested_schema"],
    title: body["title"],
    displayName: body["display_name"],
    description: body["description"],
  }
}

function dialogOf(body: AgentRequest["body"]): UserDialogRequest
function dialogOf(body: AgentRequest["body"]): unknown {
  const toolUseID = textOf(body, "tool_use_id")
  return {
    dialogKind: body["dialog_kind"],
    payload: body["payload"],
    ...(toolUseID === undefined ? {} : { toolUseID }),
  }
}
