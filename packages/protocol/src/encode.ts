import type { Envelope } from "./envelope.ts"
import { fieldOf, isObject, textOf } from "./envelope.ts"
import { ProtocolError } from "./errors.ts"
import { known } from "./known.generated.ts"
import type { PeerTraits } from "./peer-traits.ts"

/** One message, one line, without its newline. JSON never holds a bare newline, so the result is always one line. */
export function encode(message: Envelope): string {
  let line: string | undefined
  try {
    line = JSON.stringify(message)
  } catch (cause) {
    throw new ProtocolError("write/not-encodable", `the ${message.type} message has no JSON form`, { cause })
  }
  // A `toJSON` may have returned anything.
  if (line === undefined || !line.startsWith("{")) {
    throw new ProtocolError("write/not-encodable", `the ${message.type} message is not a JSON object`)
  }
  return line
}

/** Every type a CLI reads. What is not here is never written: to an old CLI one such line is the end of its process. */
const WRITABLE: ReadonlySet<string> = new Set(Object.keys(known.host))

/**
 * A message as a line that this agent can take, or an error that says why it must not be sent. The reading side is
 * tolerant; this side is strict.
 */
export function encodeForAgent(message: Envelope, traits: PeerTraits): string {
  const problem = whyNotAccepted(message, traits)
  if (problem !== undefined) throw new ProtocolError("write/not-accepted", problem, { details: { type: message.type } })
  return encode(message)
}

function whyNotAccepted(message: Envelope, traits: PeerTraits): string | undefined {
  if (message.type === "control_cancel_request") {
    return traits.takesCancel ? undefined : "this CLI exits when it gets a control_cancel_request"
  }
  if (!WRITABLE.has(message.type)) return `no CLI reads messages of type "${message.type}"`
  if (message.type === "control_request") return whyNotARequest(message)
  if (message.type === "control_response") return whyNotAnAnswer(message)
  if (message.type === "user" && fieldOf(message, "message") === undefined) return "a user message needs its message"
  return undefined
}

function whyNotARequest(message: Envelope): string | undefined {
  if (textOf(message, "request_id") === undefined) return "a control_request needs a request_id"
  if (textOf(fieldOf(message, "request"), "subtype") === undefined) return "a control_request needs request.subtype"
  return undefined
}

function whyNotAnAnswer(message: Envelope): string | undefined {
  const response = fieldOf(message, "response")
  if (response === undefined) return "a control_response needs its response: 2.1.37 exits without it"
  if (textOf(response, "request_id") === undefined) return "a control_response needs response.request_id"
  if (response["subtype"] === "error") {
    return textOf(response, "error") === undefined ? "an error answer needs its error text" : undefined
  }
  if (response["subtype"] !== "success")
    return `an answer is "success" or "error", not "${String(response["subtype"])}"`
  const payload = response["response"]
  if (isObject(payload) && payload["behavior"] === "allow" && !isObject(payload["updatedInput"])) {
    return "an allow needs updatedInput: without it 2.1.37 denies the tool"
  }
  return undefined
}
