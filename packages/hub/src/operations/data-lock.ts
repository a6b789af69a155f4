import { readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "libsql"
import { HubError, reasonOf } from "../errors.ts"
import { keepPrivate } from "../store/search/private-file.js"

export interface DataLock {
  release(): void
}

/** Commands that look whether a hub runs hold the lock for a moment: a hub that starts waits for them. */
const WAIT_MS = 500

/**
 * One hub per data directory. The lock is the operating system's, on a file that SQLite holds locked: it is gone with the
 * process, however that ends.
 */
export function takeDataLock(dataDirectory: string, waitMs: number = WAIT_MS): DataLock {
  const file = join(dataDirectory, "lock")
  keepPrivate(file)
  let opened: Database.Database | undefined
  try {
    const database = new Database(file)
    opened = database
    database.exec(`PRAGMA busy_timeout = ${waitMs}`)
    database.exec("BEGIN EXCLUSIVE")
    return {
      release: () => {
        database.exec("ROLLBACK")
        database.close()
      },
    }
  } catch (cause) {
    opened?.close()
    if (isBusy(cause))
      throw new HubError("start/locked", `${dataDirectory} is in use by another hub${describeHolder(dataDirectory)}`, {
        cause,
      })
    const message = `can't open ${file} (${reasonOf(cause)}): change its permissions, or choose another --data`
    throw new HubError("start/data-directory", message, { cause })
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^SQLITE_(?:BUSY|LOCKED)/.test(String(error.code))
}

function describeHolder(dataDirectory: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(join(dataDirectory, "hub.json"), "utf8"))
    if (typeof holder !== "object" || holder === null) return ""
    const { url, pid } = holder as { url?: unknown; pid?: unknown }
    return ` (${String(url)}, pid ${String(pid)}): use that one, stop it with SIGTERM, or choose another --data`
  } catch {
    return ": stop it, or choose another --data"
  }
}
