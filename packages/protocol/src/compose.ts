import { type Envelope, fieldOf, isObject, ProtocolError, textOf } from "./envelope.ts"
import { known } from "./known.generated.ts"
import type { ControlRequestOf, ControlSubtypeOf } from "./schemas/control.ts"

/** The messages a host sends, in the one form that every CLI we know of understands. */

export interface UserMessageOptions {
  /** Worth giving: a CLI ignores a second copy of the same message, and its echo is the receipt. */
  readonly uuid?: string
  readonly session_id?: string
  readonly parent_tool_use_id?: string
  readonly priority?: "now" | "next" | "later"
  readonly shouldQuery?: boolean
}

export function composeUserMessage(content: string | readonly unknown[], options: UserMessageOptions = {}): Envelope {
  const { session_id = "", parent_tool_use_id = null, ...rest } = options
  // As blocks, which is what the official clients write; a bare string is understood too, but less tried.
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
  return { type: "user", message: { role: "user", content: blocks }, parent_tool_use_id, session_id, ...rest }
}

/** A request of the table, held to its fields; or any other, as it is. */
export function composeRequest<const S extends ControlSubtypeOf<"host">>(
  requestId: string,
  request: ControlRequestOf<S>,
): Envelope
export function composeRequest(requestId: string, request: UnlistedRequest): Envelope
export function composeRequest(requestId: string, request: UnlistedRequest): Envelope {
  return { type: "control_request", request_id: requestId, request }
}

export function composeSuccess(requestId: string, response?: unknown): Envelope {
  const payload = response === undefined ? {} : { response }
  return { type: "control_response", response: { subtype: "success", request_id: requestId, ...payload } }
}

export function composeError(requestId: string, error: string, errorCode?: string): Envelope {
  const code = errorCode === undefined ? {} : { error_code: errorCode }
  return { type: "control_response", response: { subtype: "error", request_id: requestId, error, ...code } }
}

/** The answer to a `PreToolUse` hook that keeps the tool from running. An error, or silence, would let some versions run it. */
export function toolDenial(reason: string): Readonly<Record<string, unknown>> {
  const decision = { permissionDecision: "deny", permissionDecisionReason: reason }
  return { hookSpecificOutput: { hookEventName: "PreToolUse", ...decision } }
}

export function composeCancel(requestId: string): Envelope {
  return { type: "control_cancel_request", request_id: requestId }
}

export interface UnlistedRequest {
  readonly subtype: string
  readonly [field: string]: unknown
}

/** The question an answer belongs to: a `can_use_tool` request as it came, or what is needed of it. */
export interface ToolQuestion {
  readonly request_id: string
  readonly request: {
    readonly input: Readonly<Record<string, unknown>>
    readonly tool_use_id?: string
  }
}

export interface AllowOptions {
  readonly updatedInput?: Readonly<Record<string, unknown>>
  readonly updatedPermissions?: readonly unknown[]
}

/** `updatedInput` always goes along: without it 2.1.37 turns an allow into a denial. */
export function composeAllow(question: ToolQuestion, options: AllowOptions = {}): Envelope {
  return composeSuccess(question.request_id, {
    behavior: "allow",
    updatedInput: options.updatedInput ?? question.request.input,
    ...(options.updatedPermissions === undefined ? {} : { updatedPermissions: options.updatedPermissions }),
    ...toolUse(question),
  })
}

export function composeDeny(question: ToolQuestion, message: string, options: { interrupt?: boolean } = {}): Envelope {
  const interrupt = options.interrupt === undefined ? {} : { interrupt: options.interrupt }
  return composeSuccess(question.request_id, { behavior: "deny", message, ...interrupt, ...toolUse(question) })
}

function toolUse(question: ToolQuestion): { toolUseID?: string } {
  const { tool_use_id } = question.request
  return tool_use_id === undefined ? {} : { toolUseID: tool_use_id }
}

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

/** Traits of a CLI: what it can take without harm. Only known by version for old ones, which report no capabilities; unknown means the oldest. */
export interface PeerTraits {
  /** Takes `control_cancel_request`; 2.1.37 exits on it. */
  readonly takesCancel: boolean
  /** Takes a second `initialize` and answers it in full instead of "Already initialized". */
  readonly initializesAgain: boolean
  /** Takes `unanswered` beside the answers to its questions. An older one on a strict host refuses the whole answer. */
  readonly takesUnanswered: boolean
  /** Tells which environment variables it took. 2.1.120 does not, 2.1.325 does; in between it is told by the capabilities. */
  readonly answersVariables: boolean
}

const OLDEST: PeerTraits = {
  takesCancel: false,
  initializesAgain: false,
  takesUnanswered: false,
  answersVariables: false,
}

/** The oldest version seen to be tolerant; nothing between it and 2.1.37 was tried. */
const TOLERANT_SINCE = "2.1.100"
/** Before it, what only a modern CLI does is told by the capabilities. */
const MODERN_SINCE = "2.1.325"

export function peerTraits(peer: { claude_code_version?: string; capabilities?: readonly string[] }): PeerTraits {
  const version = peer.claude_code_version
  const modern = (peer.capabilities?.length ?? 0) > 0 || isAtLeast(version, MODERN_SINCE)
  if (!modern && !isAtLeast(version, TOLERANT_SINCE)) return OLDEST
  return {
    takesCancel: true,
    initializesAgain: modern,
    takesUnanswered: peer.capabilities?.includes("ask_user_question_unanswered_v1") === true,
    answersVariables: modern,
  }
}

/** Whether a version, such as `2.1.37`, is this one or a newer one. False for what is no version. */
export function isAtLeast(version: string | undefined, least: string): boolean {
  const [own, other] = [version ?? "", least].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number))
  if (own === undefined || other === undefined) return false
  const at = own.findIndex((part, index) => part !== other[index])
  return at === -1 || (own[at] ?? 0) > (other[at] ?? 0)
}

/** The CLIs' own words, from 2.0 to 2.1.325, for an account or a key that does not let them in. */
const SIGN_IN =
  /not logged in|please run \/login|invalid api key|authentication_(?:failed|error)|oauth (?:token|authentication).{0,40}(?:expired|revoked|not supported)|invalid (?:bearer|auth) token/i

/** True if this text of an agent says that it is not signed in. */
export function saysSignIn(text: string): boolean {
  return SIGN_IN.test(text.slice(0, 2_000))
}
