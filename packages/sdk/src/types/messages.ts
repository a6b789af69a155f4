import type { UUID } from "node:crypto"
import type * as Wire from "@signalbox/protocol"
import type { ApiMessage, ApiStreamEvent } from "./api-message.ts"
import type { ApiMessageParam } from "./api-params.ts"
import type {
  FastMode,
  InvalidConfigFile,
  PluginError,
  SDKContextUsage,
  SDKDeferredToolUse,
  SDKMcpResourceLink,
  SDKMessageOrigin,
  SDKStartupFailureReason,
  SDKUsageReport,
  SubagentRetry,
} from "./message-parts.ts"
import type { EffortLevel } from "./options.ts"
import type { Published, With } from "./published.ts"
import type { SlashCommand } from "./query.ts"
import type { ModelUsage, NonNullableUsage } from "./usage.ts"

export type SDKAssistantMessage = With<
  Published<Wire.AssistantMessage>,
  {
    message: ApiMessage
    resumed_from_incomplete_thinking?: true
    supersedes?: UUID[]
    aborted?: true
    context_usage?: SDKContextUsage
    usage_report?: SDKUsageReport
  }
>
export type SDKAssistantMessageError = NonNullable<SDKAssistantMessage["error"]>

/** A message that the agent reports as said by the user, and a program's prompt: the official package has one type for both. */
export type SDKUserMessage = With<
  Published<Wire.HostUserMessage>,
  {
    message: ApiMessageParam
    parent_tool_use_id: string | null
    origin?: SDKMessageOrigin | undefined
    client_composed?: true | undefined
    pasted_content?: ApiMessageParam["content"][] | undefined
    inline_pastes?: string[] | undefined
  }
>

export type SDKUserMessageReplay = With<
  Omit<SDKUserMessage, "pasted_content" | "inline_pastes" | "agent_id" | "subagent_type" | "task_description">,
  { uuid: UUID; session_id: string; isReplay: true; file_attachments?: unknown[] }
>

interface OfEveryResult extends FastMode {
  usage: NonNullableUsage
  modelUsage: Record<string, ModelUsage>
  stop_reason: string | null
  credential_expires_at?: string
  origin?: SDKMessageOrigin
}
interface OfSuccess extends OfEveryResult {
  api_error_status?: number | null
  local_command?: string
  deferred_tool_use?: SDKDeferredToolUse
}
interface OfError extends OfEveryResult {
  startup_failure_reason?: SDKStartupFailureReason
  invalid_config_file?: InvalidConfigFile
}
export type SDKResultSuccess = With<Published<Wire.ResultSuccess>, OfSuccess>
export type SDKResultError = With<Published<Wire.ResultError>, OfError>
export type SDKResultMessage = SDKResultSuccess | SDKResultError
export type SDKPermissionDenial = Published<Wire.PermissionDenial>
export type TerminalReason = NonNullable<SDKResultSuccess["terminal_reason"]>

interface OfInit extends FastMode {
  mcp_servers: { name: string; status: string; source?: string }[]
  skills: string[]
  plugins: { name: string; path: string; version?: string }[]
  plugin_errors?: PluginError[]
  terminal_slash_commands?: string[]
  capabilities?: string[]
  effort?: EffortLevel | null
  view_mode?: "focus" | "default"
}
export type SDKSystemMessage = With<Published<Wire.SystemMessageOf<"init">>, OfInit>
export type SDKPartialAssistantMessage = With<Published<Wire.StreamEventMessage>, { event: ApiStreamEvent }>
export type SDKCompactBoundaryMessage = With<
  Published<Wire.SystemMessageOf<"compact_boundary">>,
  { compact_metadata: With<Published<Wire.SystemMessageOf<"compact_boundary">>["compact_metadata"], KeptMessages> }
>
interface KeptMessages {
  preserved_segment?: { head_uuid: UUID; anchor_uuid: UUID; tail_uuid: UUID }
  preserved_messages?: { anchor_uuid: UUID; uuids: UUID[] }
}
export type SDKStatusMessage = With<
  Published<Wire.SystemMessageOf<"status">>,
  { compact_result?: "success" | "failed" }
>
export type SDKStatus = SDKStatusMessage["status"]
export type SDKHookStartedMessage = Published<Wire.SystemMessageOf<"hook_started">>
export type SDKHookProgressMessage = Published<Wire.SystemMessageOf<"hook_progress">>
export type SDKHookResponseMessage = With<
  Published<Wire.SystemMessageOf<"hook_response">>,
  { hook_id: string; output: string; outcome: "success" | "error" | "cancelled" }
>
export type SDKToolProgressMessage = With<
  Published<Wire.PlainMessageOf<"tool_progress">>,
  { heartbeat?: boolean; subagent_retry?: SubagentRetry }
>
export type SDKToolUseSummaryMessage = Published<Wire.PlainMessageOf<"tool_use_summary">>
export type SDKAuthStatusMessage = Published<Wire.PlainMessageOf<"auth_status">>
export type SDKTaskNotificationMessage = With<
  Published<Wire.SystemMessageOf<"task_notification">>,
  { reason?: "worker_restart"; resource_links?: SDKMcpResourceLink[] }
>
export type SDKTaskStartedMessage = Published<Wire.SystemMessageOf<"task_started">>
export type SDKTaskUpdatedMessage = Published<Wire.SystemMessageOf<"task_updated">>
export type SDKTaskProgressMessage = Published<Wire.SystemMessageOf<"task_progress">>
export type SDKBackgroundTasksChangedMessage = Published<Wire.SystemMessageOf<"background_tasks_changed">>
export type SDKFilesPersistedEvent = Published<Wire.SystemMessageOf<"files_persisted">>
export type SDKAPIRetryMessage = With<Published<Wire.SystemMessageOf<"api_retry">>, { error_status: number | null }>
export type SDKControlRequestProgressMessage = With<
  Published<Wire.SystemMessageOf<"control_request_progress">>,
  { error_status?: number | null }
>
interface OfRefusal {
  request_id: string | null
  api_refusal_category?: string | null
  api_refusal_explanation?: string | null
  refused_user_message_uuid?: string | null
}
export type SDKModelRefusalFallbackMessage = With<Published<Wire.SystemMessageOf<"model_refusal_fallback">>, OfRefusal>
export type SDKModelRefusalNoFallbackMessage = With<
  Omit<Published<Wire.SystemMessageOf<"model_refusal_no_fallback">>, "trigger" | "scope">,
  OfRefusal
>
export type SDKLocalCommandOutputMessage = Published<Wire.SystemMessageOf<"local_command_output">>
export type SDKPluginInstallMessage = Published<Wire.SystemMessageOf<"plugin_install">>
export type SDKThinkingTokensMessage = Published<Wire.SystemMessageOf<"thinking_tokens">>
export type SDKSessionStateChangedMessage = Published<Wire.SystemMessageOf<"session_state_changed">>
export type SDKWorkerShuttingDownMessage = Published<Wire.SystemMessageOf<"worker_shutting_down">>
export type SDKCommandsChangedMessage = With<
  Published<Wire.SystemMessageOf<"commands_changed">>,
  { commands: SlashCommand[] }
>
export type SDKNotificationMessage = Published<Wire.SystemMessageOf<"notification">>
export type SDKMemoryRecallMessage = Published<Wire.SystemMessageOf<"memory_recall">>
export type SDKRateLimitEvent = Published<Wire.PlainMessageOf<"rate_limit_event">>
export type SDKRateLimitInfo = Published<Wire.RateLimitInfo>
export type SDKElicitationCompleteMessage = Published<Wire.SystemMessageOf<"elicitation_complete">>
export type SDKPermissionDeniedMessage = Published<Wire.SystemMessageOf<"permission_denied">>
export type SDKPromptSuggestionMessage = Published<Wire.PlainMessageOf<"prompt_suggestion">>
export type SDKMirrorErrorMessage = Published<Wire.SystemMessageOf<"mirror_error">>
export type SDKInformationalMessage = Published<Wire.SystemMessageOf<"informational">>
export type SDKConversationResetMessage = With<
  Published<Wire.PlainMessageOf<"conversation_reset">>,
  { new_conversation_id: UUID }
>
export type SDKSessionWritesLostMessage = Published<Wire.SystemMessageOf<"session_writes_lost">>

/** The messages that a query yields. Those of a newer agent come through as they are, though no type names them. */
export type SDKMessage =
  | SDKAssistantMessage
  | SDKUserMessage
  | SDKUserMessageReplay
  | SDKResultMessage
  | SDKSystemMessage
  | SDKPartialAssistantMessage
  | SDKCompactBoundaryMessage
  | SDKStatusMessage
  | SDKAPIRetryMessage
  | SDKControlRequestProgressMessage
  | SDKModelRefusalFallbackMessage
  | SDKModelRefusalNoFallbackMessage
  | SDKLocalCommandOutputMessage
  | SDKHookStartedMessage
  | SDKHookProgressMessage
  | SDKHookResponseMessage
  | SDKPluginInstallMessage
  | SDKToolProgressMessage
  | SDKAuthStatusMessage
  | SDKTaskNotificationMessage
  | SDKTaskStartedMessage
  | SDKTaskUpdatedMessage
  | SDKTaskProgressMessage
  | SDKBackgroundTasksChangedMessage
  | SDKThinkingTokensMessage
  | SDKSessionStateChangedMessage
  | SDKWorkerShuttingDownMessage
  | SDKCommandsChangedMessage
  | SDKNotificationMessage
  | SDKFilesPersistedEvent
  | SDKToolUseSummaryMessage
  | SDKMemoryRecallMessage
  | SDKRateLimitEvent
  | SDKElicitationCompleteMessage
  | SDKPermissionDeniedMessage
  | SDKPromptSuggestionMessage
  | SDKMirrorErrorMessage
  | SDKInformationalMessage
  | SDKConversationResetMessage
  | SDKSessionWritesLostMessage
