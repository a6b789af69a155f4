import { z } from "zod"
import { CanUseToolRequest, ElicitationRequest, RequestUserDialogRequest } from "./control-agent.ts"
import { type ControlSubtypeOf, controlRequests } from "./control-table.ts"
import { openEnum } from "./open-enum.ts"

/** `error_code` of 2.1.325's error replies; older versions send none. The list is not complete. */
export const CONTROL_ERROR_CODES = [
  "unsupported_request",
  "invalid_request",
  "catalog_unknown",
  "not_found",
  "restricted_by_org",
  "unavailable_for_account",
  "not_offered",
  "alias_1m_disabled",
  "alias_1m_unsupported",
  "blocked_by_hook",
  "hooks_unchecked",
  "hooks_unchecked_plugin_not_loaded",
  "check_failed",
  "check_unreachable",
  "check_server_error",
  "check_rejected",
  "credits_required",
  "rate_limit",
  "auth_failed",
  "oauth_org_not_allowed",
  "model_not_current",
  "verdict_pending",
  "internal_error",
  "invalid_mode",
  "bypass_restricted",
  "bypass_disabled",
  "bypass_not_launched",
  "auto_mode_settings",
  "auto_mode_circuit_breaker",
  "auto_mode_fast_mode",
  "auto_mode_model",
  "auto_mode_unavailable",
] as const
export const ControlErrorCode = openEnum(CONTROL_ERROR_CODES)
export type ControlErrorCode = z.infer<typeof ControlErrorCode>

function requestEnvelope<Request extends z.ZodType>(request: Request) {
  return z.looseObject({
    type: z.literal("control_request"),
    request_id: z.string(),
    request,
    // 2.1.325 acknowledges a control frame that carries one with `command_lifecycle`.
    uuid: z.string().optional(),
  })
}

/** The envelope alone, for a request of any subtype. */
export const ControlRequest = requestEnvelope(z.looseObject({ subtype: z.string() }))
export type ControlRequest = z.infer<typeof ControlRequest>

type Side = "host" | "agent"
type RequestSchemas<S extends Side> = {
  [T in ControlSubtypeOf<S>]: ReturnType<typeof requestEnvelope<(typeof controlRequests)[T]["request"]>>
}

/** The whole `control_request` line for each subtype that a side may ask. The overload says which key has which schema. */
export function requestSchemas<S extends Side>(side: S): RequestSchemas<S>
export function requestSchemas(side: Side): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {}
  for (const [subtype, { direction, request }] of Object.entries(controlRequests)) {
    if (direction === side || direction === "both") schemas[subtype] = requestEnvelope<z.ZodType>(request)
  }
  return schemas
}

/** What is still unanswered; to be honoured only on the reply to `initialize`. */
const pending = {
  pending_permission_requests: z.array(requestEnvelope(CanUseToolRequest)).optional(),
  pending_user_dialog_requests: z.array(requestEnvelope(RequestUserDialogRequest)).optional(),
  pending_elicitation_requests: z.array(requestEnvelope(ElicitationRequest)).optional(),
}

export const ControlSuccess = z.looseObject({
  subtype: z.literal("success"),
  request_id: z.string(),
  /** Its shape follows from the request: `controlRequests[subtype].response`. */
  response: z.unknown().optional(),
  ...pending,
})
export type ControlSuccess = z.infer<typeof ControlSuccess>

export const ControlError = z.looseObject({
  subtype: z.literal("error"),
  request_id: z.string(),
  error: z.string(),
  error_code: ControlErrorCode.nullish(),
  model: z.unknown().optional(),
  ...pending,
})
export type ControlError = z.infer<typeof ControlError>

/** An id may be answered more than once, or be unknown: the first answer counts, the rest is no error. */
export const ControlResponse = z.looseObject({
  type: z.literal("control_response"),
  response: z.discriminatedUnion("subtype", [ControlSuccess, ControlError]),
})
export type ControlResponse = z.infer<typeof ControlResponse>

/** The sender no longer wants the answer to its own request. 2.1.37 exits when it receives one. */
export const ControlCancelRequest = z.looseObject({
  type: z.literal("control_cancel_request"),
  request_id: z.string(),
})
export type ControlCancelRequest = z.infer<typeof ControlCancelRequest>
