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

/** What the agent reports as said by the user, and what a program sends as a prompt: the official package has one type for both. */
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
export type SDKSystemMessage = With<Published<Wire.SystemInit>, OfInit>
export type SDKPartialAssistantMessage = With<Published<Wire.StreamEventMessage>, { event: ApiStreamEvent }>
export type SDKCompactBoundaryMessage = With<
  Published<Wire.CompactBoundary>,
  { compact_metadata: With<Published<Wire.CompactBoundary>["compact_metadata"], KeptMessages> }
>
interface KeptMessages {
  preserved_segment?: { head_uuid: UUID; anchor_uuid: UUID; tail_uuid: UUID }
  preserved_messages?: { anchor_uuid: UUID; uuids: UUID[] }
}
export type SDKStatusMessage = With<Published<Wire.SystemStatus>, { compact_result?: "success" | "failed" }>
export type SDKStatus = SDKStatusMessage["status"]
export type SDKHookStartedMessage = Published<Wire.HookStarted>
export type SDKHookProgressMessage = Published<Wire.HookProgress>
export type SDKHookResponseMessage = With<
  Published<Wire.HookResponse>,
  { hook_id: string; output: string; outcome: "success" | "error" | "cancelled" }
>
export type SDKToolProgressMessage = With<
  Published<Wire.ToolProgress>,
  { heartbeat?: boolean; subagent_retry?: SubagentRetry }
>
export type SDKToolUseSummaryMessage = Published<Wire.ToolUseSummary>
export type SDKAuthStatusMessage = Published<Wire.AuthStatus>
export type SDKTaskNotificationMessage = With<
  Published<Wire.TaskNotification>,
  { reason?: "worker_restart"; resource_links?: SDKMcpResourceLink[] }
>
export type SDKTaskStartedMessage = Published<Wire.TaskStarted>
export type SDKTaskUpdatedMessage = Published<Wire.TaskUpdated>
export type SDKTaskProgressMessage = Published<Wire.TaskProgress>
export type SDKBackgroundTasksChangedMessage = Published<Wire.BackgroundTasksChanged>
export type SDKFilesPersistedEvent = Published<Wire.FilesPersisted>
export type SDKAPIRetryMessage = With<Published<Wire.ApiRetry>, { error_status: number | null }>
export type SDKControlRequestProgressMessage = With<
  Published<Wire.ControlRequestProgress>,
  { error_status?: number | null }
>
interface OfRefusal {
  request_id: string | null
  api_refusal_category?: string | null
  api_refusal_explanation?: string | null
  refused_user_message_uuid?: string | null
}
export type SDKModelRefusalFallbackMessage = With<Published<Wire.ModelRefusalFallback>, OfRefusal>
export type SDKModelRefusalNoFallbackMessage = With<
  Omit<Published<Wire.ModelRefusalNoFallback>, "trigger" | "scope">,
  OfRefusal
>
export type SDKLocalCommandOutputMessage = Published<Wire.LocalCommandOutput>
export type SDKPluginInstallMessage = Published<Wire.PluginInstall>
export type SDKThinkingTokensMessage = Published<Wire.ThinkingTokens>
export type SDKSessionStateChangedMessage = Published<Wire.SessionStateChanged>
export type SDKWorkerShuttingDownMessage = Published<Wire.WorkerShuttingDown>
export type SDKCommandsChangedMessage = With<Published<Wire.CommandsChanged>, { commands: SlashCommand[] }>
export type SDKNotificationMessage = Published<Wire.Notification>
export type SDKMemoryRecallMessage = Published<Wire.MemoryRecall>
export type SDKRateLimitEvent = Published<Wire.RateLimitEvent>
export type SDKRateLimitInfo = Published<Wire.RateLimitInfo>
export type SDKElicitationCompleteMessage = Published<Wire.ElicitationComplete>
export type SDKPermissionDeniedMessage = Published<Wire.PermissionDenied>
export type SDKPromptSuggestionMessage = Published<Wire.PromptSuggestion>
export type SDKMirrorErrorMessage = Published<Wire.MirrorError>
export type SDKInformationalMessage = Published<Wire.Informational>
export type SDKConversationResetMessage = With<Published<Wire.ConversationReset>, { new_conversation_id: UUID }>
export type SDKSessionWritesLostMessage = Published<Wire.SessionWritesLost>

/** What a query yields. Messages of a newer agent come through as they are, though no type names them. */
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
