import { classify, createDecoder, type Decoded, decode } from "./decode.ts"
import { type Envelope, fieldOf, isObject, textOf } from "./envelope.ts"
import type { AgentMessage, HostMessage } from "./schemas/registry.ts"

/**
 * Old and foreign forms of the wire, for the edges where a peer may speak them: read as what the wire means today, never
 * written by us. Every rewrite here was claimed by somebody for a real peer.
 */

type Fields = Readonly<Record<string, unknown>>

/** Returns the same object when the message is already in today's form, which is nearly always. */
export function normaliseAgentMessage(message: Envelope): Envelope {
  switch (message.type) {
    case "stream_event":
      return typeof message["event"] === "string" ? streamEventFromParts(message) : message
    case "result":
      return normaliseResult(message)
    case "tool_progress":
      return normaliseToolProgress(message)
    case "control_request":
      return normaliseQuestion(message)
    case "control_response":
      return normaliseReply(message)
    default:
      return message
  }
}

/** `event` as the event's name, with the event's own fields under `data`. */
function streamEventFromParts(message: Envelope): Envelope {
  const { data, ...rest } = message
  const fields: Fields = isObject(data) ? data : {}
  return { parent_tool_use_id: null, ...rest, event: { ...fields, type: message["event"] } }
}

/** `cost_usd` for `total_cost_usd`, and a result that has no subtype. */
function normaliseResult(message: Envelope): Envelope {
  const oldCost = message["total_cost_usd"] === undefined && typeof message["cost_usd"] === "number"
  const noSubtype = message["subtype"] === undefined
  if (!oldCost && !noSubtype) return message
  const { cost_usd, ...rest } = message
  const subtype = message["is_error"] === true ? "error_during_execution" : "success"
  return {
    ...(oldCost ? { ...rest, total_cost_usd: cost_usd } : message),
    type: message.type,
    ...(noSubtype ? { subtype } : {}),
  }
}

/** `progress`, `total` and `message` without the tool's name or the time: kept, with what typed readers rely on beside them. */
function normaliseToolProgress(message: Envelope): Envelope {
  if (message["progress"] === undefined || message["tool_name"] !== undefined) return message
  return { parent_tool_use_id: null, tool_name: "", elapsed_time_seconds: 0, ...message }
}

/** `tool_input` for `input`, a missing `tool_use_id`, and suggestions that are bare words instead of updates. */
function normaliseQuestion(message: Envelope): Envelope {
  const request = fieldOf(message, "request")
  if (request === undefined || request["subtype"] !== "can_use_tool") return message
  const renamed = request["input"] === undefined && isObject(request["tool_input"])
  const suggestions = request["permission_suggestions"]
  const bareWords = Array.isArray(suggestions) && suggestions.some((item) => !isObject(item))
  const noToolUse = request["tool_use_id"] === undefined
  if (!renamed && !bareWords && !noToolUse) return message
  const { tool_input, ...rest } = request
  return {
    ...message,
    request: {
      ...(renamed ? { ...rest, input: tool_input } : request),
      ...(bareWords ? { permission_suggestions: suggestions.filter(isObject) } : {}),
      // The request's own id stands in: it is unique, and all that an answer needs.
      ...(noToolUse ? { tool_use_id: textOf(message, "request_id") ?? "" } : {}),
    },
  }
}

/** The reply to `mcp_status` as a bare list of servers. */
function normaliseReply(message: Envelope): Envelope {
  const response = fieldOf(message, "response")
  const list = response?.["response"]
  const isServerList = Array.isArray(list) && list.every((item) => textOf(item, "status") !== undefined)
  if (response === undefined || !isServerList) return message
  return { ...message, response: { ...response, response: { mcpServers: response["response"] } } }
}

/**
 * What old frontends send to an agent through a relay, read as what a CLI understands. Sent on as they are, these forms
 * end CLI 2.1.37, or are dropped by newer ones so that the question stays open for ever.
 */

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

/** Decoding at an edge where a peer may speak an old dialect: what it says is read as what it means today. */

/** For all lines of one agent, as `createDecoder`. The line itself stays as it was received. */
export function createAgentReader(): (line: string) => Decoded<AgentMessage>
export function createAgentReader(): (line: string) => Decoded<Envelope> {
  const decodeLine: (line: string) => Decoded<Envelope> = createDecoder("agent")
  return (line) => {
    const decoded = decodeLine(line)
    if (decoded.kind === "malformed") return decoded
    const message = normaliseAgentMessage(decoded.message)
    return message === decoded.message ? decoded : classify(message, line, "agent")
  }
}

/** A line of a frontend, meant for an agent. What is in `message` may be written; the line itself may not. */
export function readFrontendLine(line: string, reading: FrontendReading): Decoded<HostMessage>
export function readFrontendLine(line: string, reading: FrontendReading): Decoded<Envelope> {
  const decoded: Decoded<Envelope> = decode(line, "host")
  if (decoded.kind === "malformed") return decoded
  const message = normaliseFrontendMessage(decoded.message, reading)
  return message === decoded.message ? decoded : classify(message, line, "host")
}
