/**
 * What old frontends send to an agent through a relay, read as what a CLI understands. Sent on as they are, these forms
 * end CLI 2.1.37, or are dropped by newer ones so that the question stays open for ever.
 */
import { type Envelope, fieldOf, isObject, textOf } from "../envelope.ts"

export interface FrontendReading {
  /** A fresh id for a request that came without one. */
  readonly newRequestId: () => string
}

/** Returns the same object when the message is already in today's form. */
export function normaliseFrontendMessage(message: Envelope, reading: FrontendReading): Envelope {
  switch (message.type) {
    case "interrupt":
      return { type: "control_request", request_id: reading.newRequestId(), request: { subtype: "interrupt" } }
    case "control_response":
      return normaliseAnswer(message)
    default:
      return message
  }
}

function normaliseAnswer(message: Envelope): Envelope {
  const response = fieldOf(message, "response")
  if (response === undefined) return answerFromPermission(message)
  if (response["subtype"] === "can_use_tool_result") return answerFromResult(response)
  return message
}

/** `{request_id, permission: {allow}}` beside the type. */
function answerFromPermission(message: Envelope): Envelope {
  const requestId = textOf(message, "request_id")
  const permission = fieldOf(message, "permission")
  if (requestId === undefined || permission === undefined) return message
  const input = permission["updatedInput"] ?? permission["input"]
  const payload =
    permission["allow"] === true
      ? { behavior: "allow", ...(isObject(input) ? { updatedInput: input } : {}) }
      : { behavior: "deny", message: textOf(permission, "message") ?? textOf(permission, "reason") ?? DENIED }
  return success(requestId, payload)
}

/** `subtype: "can_use_tool_result"` with the answer under `result`. */
function answerFromResult(response: Readonly<Record<string, unknown>>): Envelope {
  const requestId = textOf(response, "request_id") ?? ""
  const result = fieldOf(response, "result") ?? {}
  const denied = result["behavior"] === "deny" && result["message"] === undefined
  return success(requestId, denied ? { ...result, message: DENIED } : result)
}

const DENIED = "Denied by the user."

function success(requestId: string, payload: unknown): Envelope {
  return {
    type: "control_response",
    response: { subtype: "success", request_id: requestId, response: payload },
  }
}
