export { AbortError, SdkError, type SdkErrorCode, SessionError, type SessionErrorCode } from "./base/errors.ts"
export {
  BUILTIN_TOOL_NAMES,
  EXIT_REASONS,
  HOOK_EVENTS,
  LEGACY_TOOL_NAME_ALIASES,
  SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
} from "./constants.ts"
export {
  archiveSession,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  importSessionToStore,
  listSessions,
  listSubagents,
  prewarm,
  renameSession,
  startup,
  tagSession,
  unarchiveSession,
} from "./lazy-functions.ts"
export {
  type AnyZodRawShape,
  type CreateSdkMcpServerOptions,
  createSdkMcpServer,
  type InferShape,
  type SdkMcpToolDefinition,
  type ToolExtras,
  tool,
} from "./mcp/sdk-mcp-server.ts"
export { query, type StartupParams } from "./query/query.ts"
export type { PrewarmParams } from "./query/spare.ts"
export {
  type SDKSession,
  type SDKSessionOptions,
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from "./query/v2-session.ts"
export type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  ListSessionsOptions,
  ListSubagentsOptions,
  PageOptions,
  PageOptions as GetSubagentMessagesOptions,
  SDKSessionInfo,
  SessionMessage,
  SessionMutationOptions,
  SessionOptions,
} from "./sessions/index.ts"
export { foldSessionSummary } from "./sessions/session-summary.ts"
export { type SpawnOnHubOptions, spawnOnHub } from "./spawn/spawn-on-hub.ts"
export type { ImportSessionToStoreOptions } from "./store/import-session.ts"
export { InMemorySessionStore } from "./store/in-memory-session-store.ts"
export type * from "./types/control.ts"
export type * from "./types/hooks.ts"
export type * from "./types/mcp.ts"
export type {
  FastModeDisabledReason,
  FastModeState,
  SDKContextUsage,
  SDKContextUsageCategory,
  SDKDeferredToolUse,
  SDKMcpResourceLink,
  SDKMessageOrigin,
  SDKStartupFailureReason,
  SDKUsageReport,
} from "./types/message-parts.ts"
export type * from "./types/messages.ts"
export type * from "./types/options.ts"
export type * from "./types/permissions.ts"
export type * from "./types/query.ts"
export type * from "./types/session-store.ts"
export type * from "./types/settings.ts"
