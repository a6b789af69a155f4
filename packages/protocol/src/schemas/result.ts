import { z } from "zod"
import { StopReason, ToolInput, Usage } from "./content.ts"
import { answered, apiError, identity, keysOf, openEnum, schemasOf } from "./parts.ts"

const TERMINAL_REASONS = [
  "blocking_limit",
  "rapid_refill_breaker",
  "prompt_too_long",
  "image_error",
  "model_error",
  "api_error",
  "malformed_tool_use_exhausted",
  "aborted_streaming",
  "aborted_tools",
  "stop_hook_prevented",
  "hook_stopped",
  "tool_deferred",
  "max_turns",
  "background_requested",
  "completed",
  "budget_exhausted",
  "structured_output_retry_exhausted",
  "tool_deferred_unavailable",
  "turn_setup_failed",
] as const
export const TerminalReason = openEnum(TERMINAL_REASONS)

/** 2.0.77 has no `maxOutputTokens`. */
export const ModelUsage = z.looseObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadInputTokens: z.number(),
  cacheCreationInputTokens: z.number(),
  webSearchRequests: z.number(),
  costUSD: z.number(),
  contextWindow: z.number(),
  maxOutputTokens: z.number().optional(),
  thinkingTokens: z.number().nullish(),
  cacheCreationEphemeral5mInputTokens: z.number().nullish(),
  cacheCreationEphemeral1hInputTokens: z.number().nullish(),
  canonicalModel: z.string().nullish(),
  provider: z.string().nullish(),
  costBasis: openEnum(["list", "managed", "unknown"]).nullish(),
})
export type ModelUsage = z.infer<typeof ModelUsage>

/** Seen on 2.1.325 with nothing but zeros, not published. */
const SubagentStats = z.looseObject({
  spawned: z.number().nullish(),
  requested: z.record(z.string(), z.number()).nullish(),
  started_in_background: z.number().nullish(),
  max_depth: z.number().nullish(),
  spawned_by_subagents: z.number().nullish(),
  completed: z.number().nullish(),
  failed: z.number().nullish(),
  killed: z.record(z.string(), z.number()).nullish(),
  refused: z.record(z.string(), z.number()).nullish(),
  by_type: z.unknown().optional(),
})

export const PermissionDenial = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: ToolInput,
})
export type PermissionDenial = z.infer<typeof PermissionDenial>

const common = {
  type: z.literal("result"),
  ...identity,
  duration_ms: z.number(),
  duration_api_ms: z.number(),
  /** Not implied by the subtype: an interrupted turn is `error_during_execution` with `false` in 2.1.37. */
  is_error: z.boolean(),
  num_turns: z.number(),
  /** Cost of the whole process so far, like `modelUsage`; `usage` is the turn's. */
  total_cost_usd: z.number(),
  usage: Usage,
  modelUsage: z.record(z.string(), ModelUsage),
  permission_denials: z.array(PermissionDenial),
  stop_reason: StopReason.nullish(),
  structured_output: z.unknown().optional(),
  terminal_reason: TerminalReason.nullish(),
  queued_turn_count: z.number().nullish(),
  ...answered,
  result_index: z.number().nullish(),
  credential_expires_at: z.unknown().optional(),
  fast_mode_state: z.string().nullish(),
  fast_mode_disabled_reason: z.string().nullish(),
  origin: z.unknown().optional(),
  // The rest is seen on 2.1.325, not published.
  model_usage_since_last_result: z.record(z.string(), ModelUsage).nullish(),
  subagent_stats: SubagentStats.nullish(),
  safety_stops: z.number().nullish(),
}

const QueuedBehind = openEnum(["durable_post", "ephemeral_post", "retry_backoff", "hold", "none"])

/** How the vendor measures its own start of a turn. The opaque ones come rarely and are not published. */
const measurements = {
  first_content_frame_ms: z.number().nullish(),
  first_request_input_tokens: z.number().nullish(),
  first_request_cache_read_input_tokens: z.number().nullish(),
  request_sent_wall_ms: z.number().nullish(),
  first_stream_post_ms: z.number().nullish(),
  first_stream_post_ack_ms: z.number().nullish(),
  first_stream_post_queue_wait_ms: z.number().nullish(),
  first_stream_post_queued_behind: QueuedBehind.nullish(),
  first_stream_post_wall_ms: z.number().nullish(),
  first_text_post_ms: z.number().nullish(),
  first_text_post_queue_wait_ms: z.number().nullish(),
  first_text_post_queued_behind: QueuedBehind.nullish(),
  first_text_post_wall_ms: z.number().nullish(),
  time_to_request_from_spawn_ms: z.number().nullish(),
  process_turn_index: z.unknown().optional(),
  turn_start_resume_kind: z.unknown().optional(),
  time_to_request_cpu_ms: z.unknown().optional(),
  time_to_request_loop_lag_ms: z.unknown().optional(),
  time_to_request_major_faults: z.unknown().optional(),
  time_to_request_phases_ms: z.unknown().optional(),
  input_attachments_detail: z.unknown().optional(),
  message_normalization_detail: z.unknown().optional(),
  request_build_detail: z.unknown().optional(),
  tool_schema_build_detail: z.unknown().optional(),
}

export const ResultSuccess = z.looseObject({
  ...common,
  subtype: z.literal("success"),
  result: z.string(),
  ttft_ms: z.number().nullish(),
  ttft_stream_ms: z.number().nullish(),
  time_to_request_ms: z.number().nullish(),
  time_origin_ms: z.number().nullish(),
  ...apiError,
  ...measurements,
  local_command: z.unknown().optional(),
  deferred_tool_use: z.unknown().optional(),
  warm_spare_claimed: z.boolean().nullish(),
})
export type ResultSuccess = z.infer<typeof ResultSuccess>

const failure = {
  ...common,
  errors: z.array(z.string()),
  startup_failure_reason: z.string().nullish(),
  invalid_config_file: z.string().nullish(),
}
const failures = schemasOf("subtype", failure, {
  error_during_execution: {},
  error_max_turns: {},
  error_max_budget_usd: {},
  error_max_structured_output_retries: {},
})

/** One entry per subtype, the same in every generation. */
export const results = { success: ResultSuccess, ...failures }

export const RESULT_SUBTYPES = keysOf(results)

export const ResultError = z.discriminatedUnion("subtype", [
  failures.error_during_execution,
  failures.error_max_turns,
  failures.error_max_budget_usd,
  failures.error_max_structured_output_retries,
])
export type ResultError = z.infer<typeof ResultError>
export const ResultMessage = z.discriminatedUnion("subtype", [ResultSuccess, ResultError])
