import { z } from "zod"
import { identity, maybeIdentity, openEnum, schemasOf } from "./parts.ts"

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

const RateLimitInfo = z.looseObject({
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

const Goal = z.looseObject({
  condition: z.string(),
  iterations: z.number(),
  set_at: z.union([z.number(), z.string()]),
  tokens_at_start: z.number(),
  last_reason: z.string().nullish(),
})
export type Goal = z.infer<typeof Goal>

/** The agent's messages that are a `type` of their own, without subtypes. */
export const plainMessages = schemasOf("type", identity, {
  tool_progress: {
    tool_use_id: z.string(),
    tool_name: z.string(),
    parent_tool_use_id: z.string().nullable(),
    elapsed_time_seconds: z.number(),
    task_id: z.string().nullish(),
    heartbeat: z.unknown().optional(),
    subagent_type: z.string().nullish(),
    subagent_retry: z.looseObject({}).nullish(),
  },
  tool_use_summary: { summary: z.string(), preceding_tool_use_ids: z.array(z.string()) },
  /** Only with `--enable-auth-status`. */
  auth_status: { isAuthenticating: z.boolean(), output: z.array(z.string()), error: z.string().nullish() },
  /** On the wire of 2.1.37, dropped by its SDK, gone from 2.1.325. */
  streamlined_text: { text: z.string() },
  streamlined_tool_use_summary: { tool_summary: z.string() },
  rate_limit_event: { rate_limit_info: RateLimitInfo },
  prompt_suggestion: { suggestion: z.string() },
  conversation_reset: {
    new_conversation_id: z.string(),
    trigger: openEnum(["clear", "plan_mode_exit", "fresh_session", "onboarding"]).nullish(),
    user_message_uuid: z.string().nullish(),
    timestamp: z.string().nullish(),
  },
  /** Written to stdout, but no SDK message. */
  active_goal: { ...maybeIdentity, value: Goal.nullable() },
  /** When the conversation will be compacted by itself. Seen on 2.1.325, not published. */
  autocompact_state: {
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
  },
  /** Only for user messages that carried a `uuid`; precedes `system/init`. Not in the published types. */
  command_lifecycle: {
    ...maybeIdentity,
    command_uuid: z.string(),
    state: openEnum(["queued", "started", "completed", "cancelled", "discarded", "refused"]),
  },
  /** Only with `--session-mirror`. Not in the published types. */
  transcript_mirror: { ...maybeIdentity, filePath: z.string(), entries: z.array(z.unknown()) },
})
export type PlainMessageOf<Type extends keyof typeof plainMessages> = z.infer<(typeof plainMessages)[Type]>

export const KeepAlive = z.looseObject({ type: z.literal("keep_alive") })
