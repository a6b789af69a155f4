import { composeSuccess } from "./compose.ts"
import { type Envelope, fieldOf, isEnvelope, isObject, textOf } from "./envelope.ts"
import { createLineParser, type LineParser } from "./framing.ts"
import { known, subtypePath } from "./known.generated.ts"
import type { AgentMessage, HostMessage, Side, WireMessage } from "./schemas/registry.ts"

/**
 * A line, decoded once. The line itself travels along, so that relaying it never means encoding it again.
 *
 * - `known`: type and subtype are ours, and the fields that every reader follows are there. All other fields are whatever
 *   the peer sent: `./schemas` has the full check for those who need it.
 * - `unknown`: a message, but not one we know: a newer CLI's, or a known type without the fields it lives by.
 * - `malformed`: no message at all.
 */
export type Decoded<Message = WireMessage> = KnownLine<Message> | UnknownLine | MalformedLine

export interface KnownLine<Message = WireMessage> {
  readonly kind: "known"
  readonly message: Message
  readonly line: string
}

export interface UnknownLine {
  readonly kind: "unknown"
  /** The part that was not recognised. */
  readonly why: "type" | "subtype" | "shape"
  readonly message: Envelope
  readonly line: string
}

export interface MalformedLine {
  readonly kind: "malformed"
  readonly reason: string
  readonly line: string
}

/** Never throws. Without a side, what either side may send is known. */
export function decode(line: string): Decoded
export function decode(line: string, from: "agent"): Decoded<AgentMessage>
export function decode(line: string, from: "host"): Decoded<HostMessage>
export function decode(line: string, from: Side): Decoded
// The overloads say what the checks below make of a message; the type's comment tells what they leave open.
export function decode(line: string, from: Side | "either" = "either"): Decoded<Envelope> {
  return decodeWith(JSON.parse, line, from)
}

/**
 * `decode` for all lines of one connection: a stream of deltas costs it half, since they differ in little.
 * Only for what one peer says; lines of several, in turns, are dearer.
 */
export function createDecoder(from: "agent"): (line: string) => Decoded<AgentMessage>
// As with `decode`: the type says what the checks make of a message.
export function createDecoder(from: Side): (line: string) => Decoded<Envelope> {
  const parse = createLineParser()
  return (line) => decodeWith(parse, line, from)
}

function decodeWith(parse: LineParser, line: string, from: Side | "either"): Decoded<Envelope> {
  let value: unknown
  try {
    value = parse(line)
  } catch (error) {
    return malformed(line, `not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isObject(value)) return malformed(line, `not an object but ${nameOf(value)}`)
  return isEnvelope(value) ? classify(value, line, from) : malformed(line, `no "type"`)
}

/** Whether a message is one we know. */
function classify(message: Envelope, line: string, from: Side | "either"): KnownLine<Envelope> | UnknownLine {
  const why = whyUnknown(message, rules[from].get(message.type))
  return why === undefined ? { kind: "known", message, line } : { kind: "unknown", why, message, line }
}

interface TypeRule {
  readonly subtypes: ReadonlySet<unknown> | undefined
  readonly path: "subtype" | "request.subtype"
  readonly hasShape: ((message: Envelope) => boolean) | undefined
}

/** The fields that every reader of these types follows without looking. */
const shapes: Readonly<Record<string, (message: Envelope) => boolean>> = {
  assistant: (message) => isObject(message["message"]) && Array.isArray(message["message"]["content"]),
  user: (message) => isObject(message["message"]) && "content" in message["message"],
  stream_event: (message) => isObject(message["event"]) && typeof message["event"]["type"] === "string",
  control_request: (message) => {
    const request = message["request"]
    if (typeof message["request_id"] !== "string" || !isObject(request)) return false
    return request["subtype"] !== "can_use_tool" || isObject(request["input"])
  },
  control_response: (message) => {
    const response = message["response"]
    if (!isObject(response) || typeof response["request_id"] !== "string") return false
    return response["subtype"] === "success" || response["subtype"] === "error"
  },
  control_cancel_request: (message) => typeof message["request_id"] === "string",
}

function whyUnknown(message: Envelope, rule: TypeRule | undefined): UnknownLine["why"] | undefined {
  if (rule === undefined) return "type"
  if (rule.subtypes !== undefined) {
    const holder = rule.path === "subtype" ? message : message["request"]
    if (!isObject(holder) || typeof holder["subtype"] !== "string") return "shape"
    if (!rule.subtypes.has(holder["subtype"])) return "subtype"
  }
  return rule.hasShape === undefined || rule.hasShape(message) ? undefined : "shape"
}

function rulesOf(...sides: readonly Side[]): ReadonlyMap<string, TypeRule> {
  const rules = new Map<string, TypeRule>()
  for (const side of sides) {
    for (const [type, subtypes] of Object.entries(known[side])) {
      const before = rules.get(type)?.subtypes ?? []
      const path: Readonly<Record<string, TypeRule["path"]>> = subtypePath
      rules.set(type, {
        subtypes: subtypes === null ? undefined : new Set<unknown>([...before, ...subtypes]),
        path: path[type] ?? "subtype",
        hasShape: shapes[type],
      })
    }
  }
  return rules
}

const rules = { agent: rulesOf("agent"), host: rulesOf("host"), either: rulesOf("agent", "host") }

function malformed(line: string, reason: string): MalformedLine {
  return { kind: "malformed", reason, line }
}

function nameOf(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "an array" : `a ${typeof value}`
}

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
 * Reads what old frontends send to an agent through a relay as what a CLI understands. Sent on as they are, these forms
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
  return composeSuccess(requestId, payload)
}

/** `subtype: "can_use_tool_result"` with the answer under `result`. */
function answerFromResult(response: Readonly<Record<string, unknown>>): Envelope {
  const requestId = textOf(response, "request_id") ?? ""
  const result = fieldOf(response, "result") ?? {}
  const denied = result["behavior"] === "deny" && result["message"] === undefined
  return composeSuccess(requestId, denied ? { ...result, message: DENIED } : result)
}

const DENIED = "Denied by the user."

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
