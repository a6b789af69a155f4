import { z } from "zod"
import { ApiMessage, ThinkingDisplay } from "./content.ts"
import { answered, apiError, identity, subagent } from "./identity.ts"
import { openEnum } from "./open-enum.ts"

export const ASSISTANT_ERRORS = [
  "authentication_failed",
  "billing_error",
  "rate_limit",
  "invalid_request",
  "server_error",
  "unknown",
  "oauth_org_not_allowed",
  "account_on_hold",
  "verification_required",
  "overloaded",
  "model_not_found",
  "max_output_tokens",
  "cloud_credential_error",
] as const
export const AssistantError = openEnum(ASSISTANT_ERRORS)
export type AssistantError = z.infer<typeof AssistantError>

/** One per content block; blocks of the same API message share `message.id`. */
export const AssistantMessage = z.looseObject({
  type: z.literal("assistant"),
  ...identity,
  message: ApiMessage,
  parent_tool_use_id: z.string().nullable(),
  error: AssistantError.optional(),
  request_id: z.string().nullish(),
  ...answered,
  ...subagent,
  resumed_from_incomplete_thinking: z.unknown().optional(),
  supersedes: z.array(z.string()).nullish(),
  aborted: z.unknown().optional(),
  timestamp: z.string().nullish(),
  context_usage: z.unknown().optional(),
  usage_report: z.unknown().optional(),
  // The rest is seen on 2.1.325, not published.
  thinking_display: ThinkingDisplay.nullish(),
  thinking_duration_ms: z.number().nullish(),
  /** How to name the tools of MCP servers to a person. */
  tool_use_meta: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        tool_name: z.string().nullish(),
        display_name: z.string().nullish(),
        server_display_name: z.string().nullish(),
      }),
    )
    .nullish(),
  is_api_error_message: z.boolean().nullish(),
  ...apiError,
})
export type AssistantMessage = z.infer<typeof AssistantMessage>
