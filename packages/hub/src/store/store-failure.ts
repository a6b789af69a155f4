import { HubError, reasonOf } from "../errors.ts"

/** The disk or the file, not the statement: the same write may well succeed later. */
const STORAGE_CODES =
  /^SQLITE_(?:FULL|IOERR|BUSY|LOCKED|NOMEM|READONLY|CANTOPEN|NOTADB|PROTOCOL|PERM|AUTH|INTERRUPT)(?:_|$)/
/** A page that the statement needs: it will not succeed later, and others that need other pages will. */
const DAMAGE_CODES = /^SQLITE_CORRUPT(?:_|$)/

function sqliteCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
}

export function isStorageFailure(error: unknown): boolean {
  return STORAGE_CODES.test(sqliteCode(error))
}

export function isDamage(error: unknown): boolean {
  return DAMAGE_CODES.test(sqliteCode(error))
}

/** `what` cannot be written, because a page that it needs is damaged. */
export function damageFailure(error: unknown, what: string): HubError {
  const message =
    `${what} cannot be written: a page of the database is damaged (${reasonOf(error)}). What was confirmed before was not changed. ` +
    `Stop the hub, see what can be saved with "signalbox doctor", and save it with "signalbox salvage" or restore a backup.`
  return new HubError("store/failed", message, { cause: error })
}

/** The error for a caller when the store cannot do what it should. `what` says which thing failed and what to do. */
export function storeFailure(error: unknown, what: string): HubError {
  if (error instanceof HubError) return error
  const code = sqliteCode(error)
  if (code === "SQLITE_FULL") {
    return new HubError(
      "store/full",
      "The disk is full: nothing new can be kept, and no session deleted, until there is room. Free some space.",
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
