/** The messages a host sends, in the one form that every CLI we know of understands. */
import type { Envelope } from "./envelope.ts"
import type { ControlRequestOf, ControlSubtypeOf } from "./schemas/control-table.ts"

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
