/**
 * What older documents and other systems say an agent sends, read as what the wire means today. Every rewrite here was
 * claimed by somebody for a real peer; none of these forms is ever written by us.
 */
import { type Envelope, fieldOf, isObject, textOf } from "../envelope.ts"

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
