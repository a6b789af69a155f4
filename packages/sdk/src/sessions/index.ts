export { SessionError, type SessionErrorCode } from "../base/errors.ts"
export {
  archiveSession,
  deleteSession,
  renameSession,
  tagSession,
  unarchiveSession,
} from "./change-session.ts"
export { type ForkSessionOptions, type ForkSessionResult, forkSession } from "./fork-session.ts"
export { getSessionInfo, type ListSessionsOptions, listSessions } from "./list-sessions.ts"
export type {
  GetSessionInfoOptions,
  ListSubagentsOptions,
  SessionMutationOptions,
  SessionOptions,
} from "./session-file.ts"
export type { SDKSessionInfo } from "./session-info.ts"
export {
  type GetSessionMessagesOptions,
  getSessionMessages,
  getSubagentMessages,
  listSubagents,
  type PageOptions,
  type SessionMessage,
} from "./session-messages.ts"
