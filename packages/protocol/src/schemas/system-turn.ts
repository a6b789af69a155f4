import { z } from "zod"
import { AssistantError } from "./assistant.ts"
import { openEnum } from "./open-enum.ts"
import { systemMessage } from "./system-message.ts"

/** Notices about the running turn. */

const retry = {
  retry_delay_ms: z.number(),
  attempt: z.number(),
  max_retries: z.number(),
}

export const ApiRetry = systemMessage("api_retry", {
  ...retry,
  error_status: z.number().nullish(),
  error: AssistantError,
  no_response: z.looseObject({ waited_ms: z.number(), retry_wait_ms: z.number() }).nullish(),
})
export type ApiRetry = z.infer<typeof ApiRetry>

/** About a long request of the host; today only `side_question`. */
export const ControlRequestProgress = systemMessage("control_request_progress", {
  request_id: z.string(),
  status: openEnum(["started", "api_retry"]),
  attempt: z.number().nullish(),
  max_retries: z.number().nullish(),
  retry_delay_ms: z.number().nullish(),
  error_status: z.number().nullish(),
})
export type ControlRequestProgress = z.infer<typeof ControlRequestProgress>

const refusal = {
  trigger: openEnum(["refusal"]),
  scope: openEnum(["session", "local"]).nullish(),
  original_model: z.string(),
  request_id: z.string().nullish(),
  api_refusal_category: z.string().nullish(),
  api_refusal_explanation: z.string().nullish(),
  refused_user_message_uuid: z.string().nullish(),
  content: z.string(),
}

export const ModelRefusalFallback = systemMessage("model_refusal_fallback", {
  ...refusal,
  direction: openEnum(["retry", "revert", "sticky"]),
  fallback_model: z.string(),
  retracted_message_uuids: z.array(z.string()).nullish(),
})
export type ModelRefusalFallback = z.infer<typeof ModelRefusalFallback>

export const ModelRefusalNoFallback = systemMessage("model_refusal_no_fallback", refusal)
export type ModelRefusalNoFallback = z.infer<typeof ModelRefusalNoFallback>

export const LocalCommandOutput = systemMessage("local_command_output", { content: z.string() })
export type LocalCommandOutput = z.infer<typeof LocalCommandOutput>

export const ThinkingTokens = systemMessage("thinking_tokens", {
  estimated_tokens: z.number(),
  estimated_tokens_delta: z.number(),
  user_message_uuid: z.string().nullish(),
})
export type ThinkingTokens = z.infer<typeof ThinkingTokens>

export const Notification = systemMessage("notification", {
  key: z.string(),
  text: z.string(),
  priority: openEnum(["low", "medium", "high", "immediate"]),
  color: z.string().nullish(),
  timeout_ms: z.number().nullish(),
})
export type Notification = z.infer<typeof Notification>

export const Informational = systemMessage("informational", {
  content: z.string(),
  level: openEnum(["info", "notice", "suggestion", "warning"]),
  tool_use_id: z.string().nullish(),
  prevent_continuation: z.boolean().nullish(),
  tag: z.string().nullish(),
})
export type Informational = z.infer<typeof Informational>

/** The URL of an elicitation was visited and its flow is done. */
export const ElicitationComplete = systemMessage("elicitation_complete", {
  mcp_server_name: z.string(),
  elicitation_id: z.string(),
})
export type ElicitationComplete = z.infer<typeof ElicitationComplete>

/** Denied without asking anybody. */
export const PermissionDenied = systemMessage("permission_denied", {
  tool_name: z.string(),
  tool_use_id: z.string(),
  agent_id: z.string().nullish(),
  decision_reason_type: z.string().nullish(),
  decision_reason: z.string().nullish(),
  message: z.string(),
})
export type PermissionDenied = z.infer<typeof PermissionDenied>
