import { type Envelope, isEnvelope, isObject } from "./envelope.ts"
import { known, subtypePath } from "./known.generated.ts"
import { createLineParser, type LineParser } from "./line-parser.ts"
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
  /** What was not recognised. */
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
export function classify(message: Envelope, line: string, from: Side | "either"): KnownLine<Envelope> | UnknownLine {
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
