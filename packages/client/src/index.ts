import type { RouteQuery } from "@signalbox/protocol/hub-api"

export type {
  Ask,
  AskAnswer,
  AskPage,
  AskState,
  AuditRecord,
  Backtest,
  BacktestDifference,
  BacktestExample,
  CreatedSession as LaunchedSession,
  CreatedToken,
  EventPage,
  Grant,
  HubEvent,
  HubInfo,
  HubSettings,
  Me,
  NewRun,
  NewSession as LaunchRequest,
  NewToken,
  OutlineMark,
  PolicyInForce,
  PolicySuggestion,
  PolicySuggestions,
  PolicyVerdict,
  PolicyVersion,
  Pruned,
  RecordedSession,
  Run,
  Runner,
  RunnerFolders,
  RunnerLogLine,
  RunPatch as RunChange,
  RunTask,
  SearchHit,
  SearchReply,
  Session,
  SessionPage,
  SessionState,
  SignedInBrowser,
  StoreSize,
  TaskPatch as TaskChange,
  Token,
  Why,
} from "@signalbox/protocol/hub-api"
export type { Backoff } from "@signalbox/protocol/timing"
export {
  type DirectConnection,
  type DirectEnd,
  type DirectOptions,
  openDirect,
  type PermissionAnswer,
} from "./direct.ts"
export { HubClientError, type HubClientErrorOptions, type LocalErrorCode } from "./errors.ts"
export type { FollowItem, FollowOptions } from "./follower.ts"
export { type ConnectOptions, connectHub, type Hub, type HubRunners, type HubRuns } from "./hub.ts"
export type { HubSession, SendOptions } from "./hub-session.ts"
export { failureAdvice, hasFailed, readEvents } from "./hub-session.ts"
export type { PolicyTestOptions } from "./policy.ts"
export type { Call, HubUrl } from "./rest.ts"
export { newUuid } from "./rest.ts"

export type SessionQuery = RouteQuery<"GET /api/sessions">
export type EventQuery = RouteQuery<"GET /api/sessions/:id/events">
export type SearchQuery = RouteQuery<"GET /api/search">
