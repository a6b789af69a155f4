import type { SessionStore } from "../types/session-store.ts"

export interface SessionOptions {
  /** The working directory whose project is meant; left out: all projects, or with a store that of this process. */
  dir?: string
  /** Where the sessions are kept, if not on this disk. */
  sessionStore?: SessionStore
}

export type GetSessionInfoOptions = SessionOptions
export type ListSubagentsOptions = SessionOptions
export type SessionMutationOptions = SessionOptions
