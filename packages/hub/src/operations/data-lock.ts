import { readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "libsql"
import { HubError } from "../errors.ts"
import { keepPrivate } from "../store/search/private-file.js"

export interface DataLock {
  release(): void
}

/**
 * One hub per data directory. The lock is the operating system's, on a file that SQLite holds locked: it is gone with the
 * process, however that ends.
 */
export function takeDataLock(dataDirectory: string): DataLock {
  const file = join(dataDirectory, "lock")
  keepPrivate(file)
  const database = new Database(file)
  try {
    database.exec("PRAGMA busy_timeout = 0")
    database.exec("BEGIN EXCLUSIVE")
  } catch (cause) {
    database.close()
    throw new HubError("start/locked", `${dataDirectory} is in use by another hub${describeHolder(dataDirectory)}`, {
      cause,
    })
  }
  return {
    release: () => {
      database.exec("ROLLBACK")
      database.close()
    },
  }
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
