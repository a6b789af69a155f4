import { HubError, reasonOf } from "../errors.ts"

/** The disk or the file, not the statement: the same write may well succeed later. */
const STORAGE_CODES =
  /^SQLITE_(?:FULL|IOERR|BUSY|LOCKED|NOMEM|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|PERM|AUTH|INTERRUPT)(?:_|$)/

function sqliteCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
}

export function isStorageFailure(error: unknown): boolean {
  return STORAGE_CODES.test(sqliteCode(error))
}

/** The error for a caller when the store cannot do what it should. `what` says which thing failed and what to do. */
export function storeFailure(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error
  const code = sqliteCode(error)
  if (code === "SQLITE_FULL") {
    return new HubError(
      "store/full",
      "The disk is full: nothing new can be kept until there is room. Free some space.",
      {
        cause: error,
      },
    )
  }
  return new HubError("store/failed", `${what} (${reasonOf(error)})`, { cause: error })
}

/** A living hub has the session, or had it taken from this one. */
export function movedError(session: string): HubError {
  return new HubError("hub/moved", `Session ${session} is another hub's now: try again in a moment.`, {
    details: { session, retryAfterSeconds: 1 },
  })
}
