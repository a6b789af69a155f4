// One module to load for all functions on stored sessions.
export { SessionError } from "../base/errors.ts"
export * from "./change-session.ts"
export * from "./fork-session.ts"
export * from "./list-sessions.ts"
export type * from "./session-file.ts"
export type * from "./session-info.ts"
export * from "./session-messages.ts"
