import { type Envelope, fieldOf, isQuestion, textOf } from "@signalbox/protocol"

/** What becomes of a line that an agent wrote. */
export type LineFate =
  /** Kept and numbered. A line whose key the log has already is not kept again. */
  | { readonly fate: "event"; readonly key?: string }
  /** Shown live, never numbered. */
  | { readonly fate: "delta" }
  /** A question that a person or program can answer: kept, and an ask. */
  | { readonly fate: "question"; readonly requestId: string; readonly request: Readonly<Record<string, unknown>> }
  /** The agent takes one of its questions back. */
  | { readonly fate: "cancel"; readonly requestId: string }
  /** The reply to a request of ours. */
  | { readonly fate: "reply"; readonly requestId: string }
  /** For the client that registered the hook or hosts the MCP server. */
  | { readonly fate: "call"; readonly requestId: string; readonly request: Readonly<Record<string, unknown>> }
  | { readonly fate: "absorbed" }

const EVENT: LineFate = { fate: "event" }
const DELTA: LineFate = { fate: "delta" }
const ABSORBED: LineFate = { fate: "absorbed" }

export function fateOf(message: Envelope): LineFate {
  switch (message.type) {
    case "stream_event":
    case "tool_progress":
    case "command_lifecycle":
      return DELTA
    case "keep_alive":
      return ABSORBED
    case "auth_status":
      return isUneventful(message) ? ABSORBED : keyed(message)
    case "system":
      return isPassing(message) ? DELTA : keyed(message)
    case "control_request":
      return fateOfRequest(message)
    case "control_cancel_request": {
      const requestId = textOf(message, "request_id")
      return requestId === undefined ? EVENT : { fate: "cancel", requestId }
    }
    case "control_response": {
      const requestId = textOf(fieldOf(message, "response"), "request_id")
      return requestId === undefined ? EVENT : { fate: "reply", requestId }
    }
    default:
      return keyed(message)
  }
}

/** The echo of a message of ours has its `uuid`, which the log has already: it is not kept twice. */
function keyed(message: Envelope): LineFate {
  const key = textOf(message, "uuid")
  return key === undefined ? EVENT : { fate: "event", key }
}

/** Every agent that is asked for its sign-in says this at its start: it neither signs in nor failed to. */
function isUneventful({ isAuthenticating, output, error }: Envelope): boolean {
  return isAuthenticating === false && Array.isArray(output) && output.length === 0 && error == null
}

/** Tells how something under way is going; what came of it is told by another line. */
function isPassing(message: Envelope): boolean {
  if (message["subtype"] === "thinking_tokens") return true
  if (message["subtype"] !== "status") return false
  if (message["status"] === "requesting") return true
  const tells = ["permissionMode", "compact_result", "compact_error"].some((name) => message[name] !== undefined)
  return message["status"] === null && !tells
}

function fateOfRequest(message: Envelope): LineFate {
  const requestId = textOf(message, "request_id")
  const request = fieldOf(message, "request")
  if (requestId === undefined || request === undefined) return EVENT
  return isQuestion(request["subtype"])
    ? { fate: "question", requestId, request }
    : { fate: "call", requestId, request }
}

/** One event per question, however often the agent or a reconnect brings it. */
export function questionKey(requestId: string): string {
  return `request:${requestId}`
}
