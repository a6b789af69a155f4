import { z } from "zod"
import { identity, maybeIdentity, openEnum, systemMessage } from "./parts.ts"

/** The agent's messages that are a `type` of their own, without subtypes. */

export const ToolProgress = z.looseObject({
  type: z.literal("tool_progress"),
  ...identity,
  tool_use_id: z.string(),
  tool_name: z.string(),
  parent_tool_use_id: z.string().nullable(),
  elapsed_time_seconds: z.number(),
  task_id: z.string().nullish(),
  heartbeat: z.unknown().optional(),
  subagent_type: z.string().nullish(),
  subagent_retry: z.looseObject({}).nullish(),
})
export type ToolProgress = z.infer<typeof ToolProgress>

export const ToolUseSummary = z.looseObject({
  type: z.literal("tool_use_summary"),
  ...identity,
  summary: z.string(),
  preceding_tool_use_ids: z.array(z.string()),
})
export type ToolUseSummary = z.infer<typeof ToolUseSummary>

/** Only with `--enable-auth-status`. */
export const AuthStatus = z.looseObject({
  type: z.literal("auth_status"),
  ...identity,
  isAuthenticating: z.boolean(),
  output: z.array(z.string()),
  error: z.string().nullish(),
})
export type AuthStatus = z.infer<typeof AuthStatus>

/** On the wire of 2.1.37, dropped by its SDK, gone from 2.1.325. */
export const StreamlinedText = z.looseObject({ type: z.literal("streamlined_text"), ...identity, text: z.string() })
export type StreamlinedText = z.infer<typeof StreamlinedText>

export const StreamlinedToolUseSummary = z.looseObject({
  type: z.literal("streamlined_tool_use_summary"),
  ...identity,
  tool_summary: z.string(),
})
export type StreamlinedToolUseSummary = z.infer<typeof StreamlinedToolUseSummary>

const RateLimitStatus = openEnum(["allowed", "allowed_warning", "rejected"])
const RATE_LIMITS = [
  "five_hour",
  "seven_day",
  "seven_day_opus",
  "seven_day_sonnet",
  "seven_day_overage_included",
  "overage",
] as const
const OVERAGE_DISABLED = [
  "overage_not_provisioned",
  "org_level_disabled",
  "org_level_disabled_until",
  "org_service_level_disabled",
  "seat_tier_level_disabled",
  "seat_tier_zero_credit_limit",
  "member_level_disabled",
  "member_zero_credit_limit",
  "group_zero_credit_limit",
  "out_of_credits",
  "no_limits_configured",
  "fetch_error",
  "unknown",
] as const

const UnifiedWindow = z.looseObject({
  utilization: z.number().nullish(),
  resetsAt: z.number().nullish(),
  status: RateLimitStatus.nullish(),
  surpassedThreshold: z.number().nullish(),
})

export const RateLimitInfo = z.looseObject({
  status: RateLimitStatus,
  resetsAt: z.number().nullish(),
  rateLimitType: openEnum(RATE_LIMITS).nullish(),
  utilization: z.number().nullish(),
  isUsingOverage: z.boolean().nullish(),
  overageStatus: RateLimitStatus.nullish(),
  overageResetsAt: z.number().nullish(),
  overageDisabledReason: openEnum(OVERAGE_DISABLED).nullish(),
  overageInUse: z.boolean().nullish(),
  overageEnabled: z.boolean().nullish(),
  surpassedThreshold: z.number().nullish(),
  limitScope: openEnum(["service", "channel", "group_pool"]).nullish(),
  errorCode: openEnum(["credits_required"]).nullish(),
  canUserPurchaseCredits: z.boolean().nullish(),
  hasChargeableSavedPaymentMethod: z.boolean().nullish(),
  // Seen on 2.1.325, not published: each window by its name, also while all is well.
  unifiedWindows: z.record(z.string(), UnifiedWindow).nullish(),
})
export type RateLimitInfo = z.infer<typeof RateLimitInfo>

export const RateLimitEvent = z.looseObject({
  type: z.literal("rate_limit_event"),
  ...identity,
  rate_limit_info: RateLimitInfo,
})
export type RateLimitEvent = z.infer<typeof RateLimitEvent>

export const PromptSuggestion = z.looseObject({
  type: z.literal("prompt_suggestion"),
  ...identity,
  suggestion: z.string(),
})
export type PromptSuggestion = z.infer<typeof PromptSuggestion>

export const ConversationReset = z.looseObject({
  type: z.literal("conversation_reset"),
  ...identity,
  new_conversation_id: z.string(),
  trigger: openEnum(["clear", "plan_mode_exit", "fresh_session", "onboarding"]).nullish(),
  user_message_uuid: z.string().nullish(),
  timestamp: z.string().nullish(),
})
export type ConversationReset = z.infer<typeof ConversationReset>

export const Goal = z.looseObject({
  condition: z.string(),
  iterations: z.number(),
  set_at: z.union([z.number(), z.string()]),
  tokens_at_start: z.number(),
  last_reason: z.string().nullish(),
})
export type Goal = z.infer<typeof Goal>

/** Written to stdout, but no SDK message. */
export const ActiveGoal = z.looseObject({ type: z.literal("active_goal"), ...maybeIdentity, value: Goal.nullable() })
export type ActiveGoal = z.infer<typeof ActiveGoal>

/** When the conversation will be compacted by itself. Seen on 2.1.325, not published. */
export const AutocompactState = z.looseObject({
  type: z.literal("autocompact_state"),
  ...maybeIdentity,
  value: z
    .looseObject({
      enabled: z.boolean().nullish(),
      /** In tokens, like the threshold. */
      effective_window: z.number().nullish(),
      threshold: z.number().nullish(),
      enforced: z.boolean().nullish(),
      source: z.string().nullish(),
    })
    .nullish(),
})
export type AutocompactState = z.infer<typeof AutocompactState>

/** Only for user messages that carried a `uuid`; precedes `system/init`. Not in the published types. */
export const CommandLifecycle = z.looseObject({
  type: z.literal("command_lifecycle"),
  ...maybeIdentity,
  command_uuid: z.string(),
  state: openEnum(["queued", "started", "completed", "cancelled", "discarded", "refused"]),
})
export type CommandLifecycle = z.infer<typeof CommandLifecycle>

/** Only with `--session-mirror`. Not in the published types. */
export const TranscriptMirror = z.looseObject({
  type: z.literal("transcript_mirror"),
  ...maybeIdentity,
  filePath: z.string(),
  entries: z.array(z.unknown()),
})
export type TranscriptMirror = z.infer<typeof TranscriptMirror>

export const KeepAlive = z.looseObject({ type: z.literal("keep_alive") })
export type KeepAlive = z.infer<typeof KeepAlive>

const hook = { hook_id: z.string(), hook_name: z.string(), hook_event: z.string() }
const hookStreams = { stdout: z.string(), stderr: z.string() }

export const HookStarted = systemMessage("hook_started", hook)
export type HookStarted = z.infer<typeof HookStarted>

export const HookProgress = systemMessage("hook_progress", { ...hook, ...hookStreams, output: z.string() })
export type HookProgress = z.infer<typeof HookProgress>

/** 2.0.77 leaves out `hook_id`, `output` and `outcome`. */
export const HookResponse = systemMessage("hook_response", {
  ...hook,
  ...hookStreams,
  hook_id: z.string().optional(),
  output: z.string().optional(),
  outcome: openEnum(["success", "error", "cancelled"]).optional(),
  exit_code: z.number().nullish(),
})
export type HookResponse = z.infer<typeof HookResponse>

export const TaskUsage = z.looseObject({
  total_tokens: z.number(),
  tool_uses: z.number(),
  duration_ms: z.number(),
})
export type TaskUsage = z.infer<typeof TaskUsage>

const task = { task_id: z.string(), run_id: z.string().nullish() }
const toolUse = { tool_use_id: z.string().nullish() }
const quiet = { skip_transcript: z.boolean().nullish(), ambient: z.boolean().nullish() }

export const TaskNotification = systemMessage("task_notification", {
  ...task,
  ...toolUse,
  ...quiet,
  status: openEnum(["completed", "failed", "stopped"]),
  output_file: z.string(),
  summary: z.string(),
  reason: z.string().nullish(),
  usage: TaskUsage.nullish(),
  resource_links: z.array(z.unknown()).nullish(),
})
export type TaskNotification = z.infer<typeof TaskNotification>

export const TaskStarted = systemMessage("task_started", {
  ...task,
  ...toolUse,
  ...quiet,
  description: z.string(),
  subagent_type: z.string().nullish(),
  is_backgrounded: z.boolean().nullish(),
  spawn_depth: z.number().nullish(),
  parent_task_id: z.string().nullish(),
  task_type: z.string().nullish(),
  workflow_name: z.string().nullish(),
  prompt: z.string().nullish(),
})
export type TaskStarted = z.infer<typeof TaskStarted>

export const TaskUpdated = systemMessage("task_updated", {
  ...task,
  patch: z.looseObject({
    status: openEnum(["pending", "running", "completed", "failed", "killed", "paused"]).nullish(),
    description: z.string().nullish(),
    end_time: z.number().nullish(),
    total_paused_ms: z.number().nullish(),
    error: z.string().nullish(),
    is_backgrounded: z.boolean().nullish(),
  }),
})
export type TaskUpdated = z.infer<typeof TaskUpdated>

export const TaskProgress = systemMessage("task_progress", {
  ...task,
  ...toolUse,
  description: z.string(),
  subagent_type: z.string().nullish(),
  usage: TaskUsage,
  last_tool_name: z.string().nullish(),
  summary: z.string().nullish(),
})
export type TaskProgress = z.infer<typeof TaskProgress>

/** The full set: replaces the one known so far. */
export const BackgroundTasksChanged = systemMessage("background_tasks_changed", {
  tasks: z.array(
    z.looseObject({
      ...task,
      task_type: z.string(),
      subagent_type: z.string().nullish(),
      description: z.string(),
      parent_task_id: z.string().nullish(),
      ambient: z.boolean().nullish(),
    }),
  ),
})
export type BackgroundTasksChanged = z.infer<typeof BackgroundTasksChanged>
