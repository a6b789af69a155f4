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
export { type ConnectOptions, connectHub, type Hub } from "./hub.ts"
export type {
  Ask,
  AskAnswer,
  AskState,
  EventPage,
  EventQuery,
  HubEvent,
  LaunchedSession,
  LaunchRequest,
  Session,
  SessionPage,
  SessionQuery,
  SessionState,
} from "./hub-records.ts"
export type { HubRunners, Runner, RunnerLogLine } from "./hub-runners.ts"
export type { HubRuns, NewRun, Run, RunChange, RunTask, TaskChange } from "./hub-runs.ts"
export type { HubSession, SendOptions } from "./hub-session.ts"
export { readEvents } from "./read-events.ts"
export type { Call } from "./rest.ts"
export { failureAdvice, hasFailed } from "./session-failure.ts"
export { newUuid } from "./uuid.ts"
