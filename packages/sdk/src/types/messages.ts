import type * as Wire from "@signalbox/protocol"
import type { Published } from "./published.ts"

export type SDKAssistantMessage = Published<Wire.AssistantMessage>
export type SDKAssistantMessageError = NonNullable<SDKAssistantMessage["error"]>

/** What the agent reports as said by the user, and what a program sends as a prompt: the official package has one type for both. */
export type SDKUserMessage = Omit<Published<Wire.HostUserMessage>, "message" | "parent_tool_use_id"> & {
  message: UserMessageParam
  parent_tool_use_id: string | null
}

/** The prompt's own content is the API's: any block a later API knows may be in it. */
export interface UserMessageParam {
  role: "user"
  content: string | UserContentBlockParam[]
}

type KnownBlock = Published<Wire.TextBlock | Wire.ImageBlock | Wire.DocumentBlock | Wire.ToolResultBlock>
export type UserContentBlockParam = KnownBlock | OtherBlock
interface OtherBlock {
  type: Exclude<Published<Wire.ContentBlock>["type"], KnownBlock["type"]>
  [field: string]: unknown
}

export type SDKUserMessageReplay = Omit<SDKUserMessage, "uuid" | "session_id"> & {
  uuid: string
  session_id: string
  isReplay: true
  file_attachments?: unknown[]
}

export type SDKResultSuccess = WithUsage<Published<Wire.ResultSuccess>>
export type SDKResultError = WithUsage<Published<Wire.ResultError>>
type WithUsage<T> = T extends object ? Omit<T, "usage"> & { usage: NonNullableUsage } : never
export type SDKResultMessage = SDKResultSuccess | SDKResultError
export type SDKPermissionDenial = Published<Wire.PermissionDenial>
/** Every count is there: what no cache was involved in is 0. */
export type NonNullableUsage = AllThere<Published<Wire.Usage>>
type AllThere<T> = { [K in keyof T]-?: NonNullable<T[K]> }
export type ModelUsage = Published<Wire.ModelUsage>
export type TerminalReason = NonNullable<SDKResultSuccess["terminal_reason"]>

export type SDKSystemMessage = Published<Wire.SystemInit>
export type SDKPartialAssistantMessage = Published<Wire.StreamEventMessage>
export type SDKCompactBoundaryMessage = Published<Wire.CompactBoundary>
export type SDKStatusMessage = Published<Wire.SystemStatus>
export type SDKStatus = SDKStatusMessage["status"]
export type SDKHookStartedMessage = Published<Wire.HookStarted>
export type SDKHookProgressMessage = Published<Wire.HookProgress>
export type SDKHookResponseMessage = Published<Wire.HookResponse>
export type SDKToolProgressMessage = Published<Wire.ToolProgress>
export type SDKToolUseSummaryMessage = Published<Wire.ToolUseSummary>
export type SDKAuthStatusMessage = Published<Wire.AuthStatus>
export type SDKTaskNotificationMessage = Published<Wire.TaskNotification>
export type SDKTaskStartedMessage = Published<Wire.TaskStarted>
export type SDKTaskUpdatedMessage = Published<Wire.TaskUpdated>
export type SDKTaskProgressMessage = Published<Wire.TaskProgress>
export type SDKBackgroundTasksChangedMessage = Published<Wire.BackgroundTasksChanged>
export type SDKFilesPersistedEvent = Published<Wire.FilesPersisted>
export type SDKAPIRetryMessage = Published<Wire.ApiRetry>
export type SDKControlRequestProgressMessage = Published<Wire.ControlRequestProgress>
export type SDKModelRefusalFallbackMessage = Published<Wire.ModelRefusalFallback>
export type SDKModelRefusalNoFallbackMessage = Published<Wire.ModelRefusalNoFallback>
export type SDKLocalCommandOutputMessage = Published<Wire.LocalCommandOutput>
export type SDKPluginInstallMessage = Published<Wire.PluginInstall>
export type SDKThinkingTokensMessage = Published<Wire.ThinkingTokens>
export type SDKSessionStateChangedMessage = Published<Wire.SessionStateChanged>
export type SDKWorkerShuttingDownMessage = Published<Wire.WorkerShuttingDown>
export type SDKCommandsChangedMessage = Published<Wire.CommandsChanged>
export type SDKNotificationMessage = Published<Wire.Notification>
export type SDKMemoryRecallMessage = Published<Wire.MemoryRecall>
export type SDKRateLimitEvent = Published<Wire.RateLimitEvent>
export type SDKRateLimitInfo = Published<Wire.RateLimitInfo>
export type SDKElicitationCompleteMessage = Published<Wire.ElicitationComplete>
export type SDKPermissionDeniedMessage = Published<Wire.PermissionDenied>
export type SDKPromptSuggestionMessage = Published<Wire.PromptSuggestion>
export type SDKMirrorErrorMessage = Published<Wire.MirrorError>
export type SDKInformationalMessage = Published<Wire.Informational>
export type SDKConversationResetMessage = Published<Wire.ConversationReset>
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
