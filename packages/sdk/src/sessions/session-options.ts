import { SessionError } from "../errors.ts"
import type { SessionStore } from "../types/session-store.ts"

export interface SessionOptions {
  /** The working directory whose project is meant; left out: all projects. */
  dir?: string
  /** Sessions kept elsewhere than on this disk: not there yet, and refused. */
  sessionStore?: SessionStore
}

/** Reading the disk where the caller named another place would show the wrong sessions, so the option is refused. */
export function refuseStore(options: SessionOptions | null | undefined): void {
  if (options?.sessionStore === undefined) return
  throw new SessionError(
    "session/not-yet",
    "options.sessionStore is not there yet: sessions are read from the disk only",
  )
}
