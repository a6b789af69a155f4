import { z } from "zod"
import { ApiMessage, ContentBlock, ThinkingDisplay } from "./content.ts"
import { answered, apiError, identity, openEnum, subagent } from "./parts.ts"

const ASSISTANT_ERRORS = [
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

const UserContent = z.union([z.string(), z.array(ContentBlock)])

const common = {
  type: z.literal("user"),
  message: z.looseObject({ role: z.literal("user"), content: UserContent }),
  isSynthetic: z.boolean().nullish(),
  tool_use_result: z.unknown().optional(),
  priority: openEnum(["now", "next", "later"]).nullish(),
  origin: z.unknown().optional(),
  timestamp: z.string().nullish(),
  ...subagent,
}

/** A message that an agent reports as said by the user: tool results, its own notes, and with `isReplay` what a host sent. */
export const UserMessage = z.looseObject({
  ...common,
  ...identity,
  parent_tool_use_id: z.string().nullable(),
  isReplay: z.boolean().nullish(),
  file_attachments: z.array(z.unknown()).nullish(),
  tool_result_meta: z.array(z.unknown()).nullish(),
})

/** A prompt from the host. `shouldQuery: false` appends without starting a turn. */
export const HostUserMessage = z.looseObject({
  ...common,
  uuid: z.string().optional(),
  session_id: z.string().optional(),
  parent_tool_use_id: z.string().nullish(),
  shouldQuery: z.boolean().optional(),
  client_composed: z.boolean().optional(),
  pasted_content: z.unknown().optional(),
  inline_pastes: z.unknown().optional(),
})
export type HostUserMessage = z.infer<typeof HostUserMessage>

/** Lines of a host that are neither prompt nor control. */

/** 2.1.37 takes any key, 2.1.325 only those on its list, and answers `{applied}` if a `request_id` is given. */
export const UpdateEnvironmentVariables = z.looseObject({
  type: z.literal("update_environment_variables"),
  variables: z.record(z.string(), z.string()),
  request_id: z.string().optional(),
})

export const UpdateEnvironmentVariablesReply = z.looseObject({ applied: z.array(z.string()) })

/** The first line of the official browser client. It is meant for the server it connects to and never reaches a CLI. */
export const AuthLine = z.looseObject({
  type: z.literal("auth"),
  credential: z.looseObject({ type: z.literal("oauth"), token: z.string() }),
})
