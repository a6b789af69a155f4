import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync, writeSync } from "node:fs"
import { setImmediate as nextTurn } from "node:timers/promises"
import { HubError } from "../../errors.ts"
import { type Database, openAsIs } from "../database.ts"
import { makeShrinkable } from "../file-size.ts"
import { makeSchema, requireKnownSchema } from "../migrations/index.ts"
import { damageInWal } from "../wal-check.ts"
import type { OnProgress } from "./backup.ts"
import { copyReadable, type SavedTable } from "./copy-rows.ts"
import {
  codeOf,
  isUnreadableSchema,
  nameFinished,
  partialOf,
  removePartials,
  removeWithCompanions,
  requireRoom,
  writeFailure,
} from "./database-file.ts"
import { problemOf } from "./in-thread.ts"
import { type Mended, mendLog } from "./mend-log.ts"
import { requireFree } from "./restore.ts"
import { quoted, tablesOf } from "./soundness.ts"

export interface SalvageReport extends Mended {
  readonly tables: readonly SavedTable[]
  /** Bytes that the disk itself could not read. */
  readonly unreadableBytes: number
  /** The byte from which on the write-ahead log was not used. */
  readonly walDamagedAt?: number
}

/**
 * Makes a sound database of what can be read of a damaged one. The damaged files are copied first and only the copy is opened:
 * SQLite writes beside whatever it opens. Whoever calls holds the lock of the target's folder.
 */
export async function salvage(
  source: string,
  target: string,
  onProgress: OnProgress = () => {},
): Promise<SalvageReport> {
  requireFree(target, "--to")
  const [old, made] = [partialOf(`${target}-damaged`), partialOf(target)]
  try {
    for (const file of [target, `${target}-damaged`]) removePartials(file)
    requireRoom(target, 2 * statSync(source).size)
    const copied = await copyDamaged(source, old)
    const tables = await copyTables(old, made, onProgress)
    const mended = await mendLog(made, new Set(tables.flatMap(({ table, lost }) => (lost > 0 ? table : []))))
    const problem = await problemOf(made, "whole")
    if (problem !== undefined)
      throw new HubError("data/failed", `what was saved is not sound (${problem}): restore a backup`)
    nameFinished(made, target)
    return { tables, ...mended, ...copied }
  } catch (error) {
    throw writeFailure(error, target)
  } finally {
    for (const file of [old, made]) removeWithCompanions(file)
  }
}

/**
 * The beginning of a damaged write-ahead log may be older than what was moved into the file from behind the damage. So the
 * file is taken with that beginning if both fit together, without it if only that is sound.
 */
async function copyDamaged(
  source: string,
  copy: string,
): Promise<Pick<SalvageReport, "unreadableBytes" | "walDamagedAt">> {
  const log = `${source}-wal`
  const at = damageInWal(log)
  const take = async (logBytes: number | undefined) => {
    removeWithCompanions(copy)
    const unreadableBytes = await copyBytes(source, copy)
    if (existsSync(log) && logBytes !== 0) await copyBytes(log, `${copy}-wal`, logBytes)
    return { unreadableBytes, ...(at === undefined ? {} : { walDamagedAt: at }) }
  }
  const isSoundWith = async (logBytes: number) => {
    await take(logBytes)
    return (await problemOf(copy, "pages")) === undefined
  }
  // A copy that was opened to be checked is made again: opening may have moved the log into the file.
  if (at === undefined || at === 0 || (await isSoundWith(at)) || !(await isSoundWith(0))) return take(at)
  return take(0)
}

const CHUNK_BYTES = 1024 * 1024
const SECTOR_BYTES = 4096

/** Bytes that the disk cannot read are left as zeros. Returns how much that was. */
async function copyBytes(source: string, copy: string, upTo = Number.POSITIVE_INFINITY): Promise<number> {
  writeFileSync(copy, "", { mode: 0o600, flag: "wx" })
  const [from, to] = [openSync(source, "r"), openSync(copy, "r+")]
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let unreadable = 0
  try {
    const end = Math.min(statSync(source).size, upTo)
    for (let at = 0, step = CHUNK_BYTES; at < end; ) {
      // A signal that ends the process is heard in between.
      await nextTurn()
      const bytes = Math.min(step, end - at)
      const read = tryRead(from, buffer.subarray(0, bytes), at)
      if (read === undefined && step > SECTOR_BYTES) {
        step = SECTOR_BYTES
        continue
      }
      if (read === undefined) {
        buffer.fill(0, 0, bytes)
        unreadable += bytes
      }
      // The file was cut while it was read.
      if (read === 0) break
      at += writeSync(to, buffer, 0, read ?? bytes, at)
      if (at % CHUNK_BYTES === 0) step = CHUNK_BYTES
    }
  } finally {
    closeSync(from)
    closeSync(to)
  }
  return unreadable
}

function tryRead(descriptor: number, buffer: Buffer, at: number): number | undefined {
  try {
    return readSync(descriptor, buffer, 0, buffer.length, at)
  } catch (error) {
    if (codeOf(error) === "EIO") return undefined
    throw error
  }
}

/** Without a check of references: rows whose session is lost are saved too. Functions in the damaged file's own schema are not trusted. */
const SETTINGS = `
  PRAGMA foreign_keys = OFF;
  PRAGMA trusted_schema = OFF;
  PRAGMA synchronous = OFF;
  PRAGMA journal_mode = MEMORY;
  PRAGMA cache_size = -65536;
  PRAGMA cell_size_check = ON;
`

/**
 * Every table that a hub of the file's version has. Tables, indexes and triggers are made by our own migrations: the texts of the
 * file's own schema are never run, since anybody may have written them.
 */
async function copyTables(old: string, made: string, onProgress: OnProgress): Promise<readonly SavedTable[]> {
  writeFileSync(made, "", { mode: 0o600, flag: "wx" })
  const database = openAsIs(made)
  try {
    database.exec(SETTINGS)
    makeShrinkable(database)
    const { schema, present } = openOld(database, old)
    makeSchema(database, schema)
    const tables = tablesOf(database).filter((table) => present.has(table))
    // The rows that a migration adds are among those to be copied.
    for (const table of tables) database.exec(`DELETE FROM main.${quoted(table)}`)
    const saved: SavedTable[] = []
    for (const table of tables) {
      onProgress(saved.length, tables.length)
      saved.push(await copyReadable(database, table))
    }
    continueNumbers(database)
    database.exec("DETACH old")
    return saved
  } finally {
    database.close()
  }
}

/** Attaches the damaged file as `old`. */
function openOld(database: Database, old: string): { readonly schema: number; readonly present: ReadonlySet<string> } {
  try {
    database.exec(`ATTACH '${old.replaceAll("'", "''")}' AS old`)
    const schema = Number(database.get("PRAGMA old.user_version", [])?.[0] ?? 0)
    requireKnownSchema("the database", schema)
    const present = new Set(tablesOf(database, "old"))
    if (schema > 0 && present.size > 0) return { schema, present }
  } catch (cause) {
    if (!isUnreadableSchema(cause)) throw cause
    throw nothingFound(cause)
  }
  throw nothingFound()
}

function nothingFound(cause?: unknown): HubError {
  const message = "the beginning of the database can't be read, so nothing in it can be found: restore a backup"
  return new HubError("data/damaged", message, { cause })
}

/** Numbers that were given to lost rows are not given again. */
function continueNumbers(database: Database): void {
  try {
    database.exec(`
      UPDATE main.sqlite_sequence SET seq = max(seq, coalesce(
        (SELECT before.seq FROM old.sqlite_sequence AS before WHERE before.name = sqlite_sequence.name), 0))
    `)
  } catch (error) {
    // The numbers go on from the last row that was saved.
    if (!isUnreadableSchema(error)) throw error
  }
}
