import { existsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { HubError, reasonOf } from "./errors.ts"
import { type DataLock, takeDataLock } from "./operations/data-lock.ts"
import { type Database, databaseIn, lastBackupIn, openAsIs } from "./store/database.ts"
import { requireKnownSchema } from "./store/migrations/index.ts"
import type { MoveReport, OnMoved } from "./store/move/move-store.ts"
import type { PostgresSurvey } from "./store/postgres/postgres-check.ts"
import { type BackupReport, backUp, type OnProgress } from "./store/upkeep/backup.ts"
import { countReadable, type SavedTable } from "./store/upkeep/copy-rows.ts"
import { isUnreadable, removePartials, taken } from "./store/upkeep/database-file.ts"
import { problemOf } from "./store/upkeep/in-thread.ts"
import { type Restored, restore } from "./store/upkeep/restore.ts"
import { type SalvageReport, salvage } from "./store/upkeep/salvage.ts"
import { damagedBlocks, type Survey, survey, TOLD_TABLES } from "./store/upkeep/soundness.ts"
import { checkWriteAheadLog } from "./store/wal-check.ts"

export type {
  BackupReport,
  MoveReport,
  OnMoved,
  OnProgress,
  PostgresSurvey,
  Restored,
  SalvageReport,
  SavedTable,
  Survey,
}
export { taken }

/** One file with everything that the hub of a data directory has, whether it runs or not. */
export async function backUpData(dataDirectory: string, file: string, onProgress?: OnProgress): Promise<BackupReport> {
  const database = requireDatabase(dataDirectory)
  // The log of a hub that runs changes while it is read here; SQLite itself knows what of it counts.
  if (!isInUse(dataDirectory)) checkWriteAheadLog(database)
  const report = await backUp(database, file, onProgress)
  try {
    writeFileSync(lastBackupIn(dataDirectory), `${new Date().toISOString()}\n`, { mode: 0o600 })
  } catch {
    // A user who may read everything here may not be allowed to write. The backup is good all the same.
  }
  return report
}

/** Makes a data directory of a backup. The directory must be there. */
export function restoreData(file: string, dataDirectory: string, onProgress?: OnProgress): Promise<Restored> {
  return withLock(dataDirectory, () => restore(file, databaseIn(dataDirectory), onProgress))
}

/** Makes another data directory of what can be read of a damaged one, which is left as it is. Both must be there. */
export async function salvageData(from: string, to: string, onProgress?: OnProgress): Promise<SalvageReport> {
  const database = requireDatabase(from)
  const held = lockIfThere(from)
  if (held === "in-use") throw new HubError("data/failed", `a hub runs on ${from}: stop it first with "signalbox down"`)
  try {
    return await withLock(to, () => salvage(database, databaseIn(to), onProgress))
  } finally {
    held?.release()
  }
}

/** Copies everything that the hub of a data directory has to an empty PostgreSQL database. An interrupted copy goes on. */
export async function moveToPostgres(dataDirectory: string, url: string, onMoved: OnMoved): Promise<MoveReport> {
  const database = requireDatabase(dataDirectory)
  const { moveToPostgres: move } = await import("./store/move/move-store.ts")
  return withLock(dataDirectory, () => move(database, url, onMoved))
}

/** The other way round, into a data directory without a database. It must be there. */
export async function moveToSqlite(url: string, dataDirectory: string, onMoved: OnMoved): Promise<MoveReport> {
  const { moveToSqlite: move } = await import("./store/move/move-store.ts")
  return withLock(dataDirectory, () => move(url, databaseIn(dataDirectory), onMoved))
}

/** Removes what an interrupted backup of this name left, or an interrupted restore or salvage into this directory. */
export function removeUnfinished(place: { readonly file: string } | { readonly dataDirectory: string }): void {
  if ("file" in place) return removePartials(place.file)
  const database = databaseIn(place.dataDirectory)
  for (const file of [database, `${database}-damaged`]) removePartials(file)
}

export type DataState =
  | { readonly state: "absent" }
  | { readonly state: "in-use"; readonly bytes: number }
  | { readonly state: "unchecked"; readonly bytes: number }
  | { readonly state: "sound"; readonly bytes: number; readonly rows: Readonly<Record<string, number>> }
  | {
      readonly state: "damaged"
      readonly bytes: number
      readonly why: string
      readonly readable: readonly SavedTable[]
    }

/** To check more takes minutes: only if that is asked for. */
const MAX_CHECKED_BYTES = 4 * 1024 ** 3

/** Whether the database of a hub that does not run is sound; if not, how much of it can be read. */
export async function checkData(dataDirectory: string, maxBytes = MAX_CHECKED_BYTES): Promise<DataState> {
  const file = databaseIn(dataDirectory)
  if (!existsSync(file)) return { state: "absent" }
  const bytes = [file, `${file}-wal`].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  if (isInUse(dataDirectory)) return { state: "in-use", bytes }
  if (bytes > maxBytes) return { state: "unchecked", bytes }
  try {
    checkWriteAheadLog(file)
    const database = openAsIs(file)
    try {
      database.exec("PRAGMA query_only = ON")
      requireKnownSchema(file, Number(database.get("PRAGMA user_version", [])?.[0] ?? 0))
      const why = await problemOf(file, "lines")
      if (why === undefined) return { state: "sound", bytes, rows: survey(database).rows }
      return { state: "damaged", bytes, why, readable: await readableIn(database) }
    } finally {
      database.close()
    }
  } catch (error) {
    const isDamage = error instanceof HubError ? error.code === "start/damaged" : isUnreadable(error)
    if (!isDamage) throw error
    return { state: "damaged", bytes, why: reasonOf(error), readable: [] }
  }
}

async function readableIn(database: Database): Promise<readonly SavedTable[]> {
  const readable: SavedTable[] = []
  for (const table of TOLD_TABLES) {
    const counted = await countReadable(database, table)
    if (counted === undefined) continue
    const lines = table === "events" ? await countLostLines(database) : 0
    readable.push({ table, saved: counted.saved - lines, lost: counted.lost + lines })
  }
  return readable
}

/** Events that can be read, but for their lines, which are in a damaged block. Where blocks can't be read either, more are lost. */
async function countLostLines(database: Database): Promise<number> {
  const count = "SELECT count(*) FROM events WHERE session = ? AND seq BETWEEN ? AND ? AND typeof(line) = 'integer'"
  let lost = 0
  try {
    for await (const { session, first, last } of damagedBlocks(database))
      lost += Number(database.all(count, [session, first, last])[0]?.[0] ?? 0)
  } catch (error) {
    if (!isUnreadable(error)) throw error
  }
  return lost
}

/** The state of the database, whether its hub runs or not. */
export function surveyData(dataDirectory: string): Survey {
  const database = openAsIs(requireDatabase(dataDirectory))
  try {
    return survey(database)
  } finally {
    database.close()
  }
}

/** The same of a PostgreSQL database. Throws what to do if a hub could not work with it. */
export async function surveyPostgres(url: string): Promise<PostgresSurvey> {
  return (await import("./store/postgres/postgres-check.ts")).surveyPostgres(url)
}

function requireDatabase(dataDirectory: string): string {
  const file = databaseIn(dataDirectory)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return file
  throw new HubError("data/missing", `${dataDirectory} has no database: name a hub's data directory with --data`)
}

/** Another process that looks holds the lock for a moment. */
const LOOK_MS = 50

function isInUse(dataDirectory: string): boolean {
  const held = lockIfThere(dataDirectory)
  if (held === "in-use") return true
  held?.release()
  return false
}

/** Leaves nothing behind: undefined where no hub ever was. */
function lockIfThere(dataDirectory: string): DataLock | "in-use" | undefined {
  if (!existsSync(join(dataDirectory, "lock"))) return undefined
  try {
    return takeDataLock(dataDirectory, LOOK_MS)
  } catch (error) {
    if (error instanceof HubError && error.code === "start/locked") return "in-use"
    throw error
  }
}

async function withLock<T>(dataDirectory: string, work: () => Promise<T>): Promise<T> {
  const lock = takeDataLock(dataDirectory)
  try {
    return await work()
  } finally {
    lock.release()
  }
}
