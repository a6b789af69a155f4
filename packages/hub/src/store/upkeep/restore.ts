import { createReadStream, createWriteStream, lstatSync, statSync } from "node:fs"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { HubError, reasonOf } from "../../errors.ts"
import { type Database, openAsIs } from "../database.ts"
import { makeSchema, requireKnownSchema } from "../migrations/index.ts"
import type { OnProgress } from "./backup.ts"
import {
  codeOf,
  isUnreadableSchema,
  nameFinished,
  partialOf,
  readHeader,
  removePartials,
  removeWithCompanions,
  requireRoom,
  taken,
  writeFailure,
} from "./database-file.ts"
import { problemOf } from "./in-thread.ts"
import { type Survey, survey, tablesOf } from "./soundness.ts"

export interface Restored extends Survey {
  /** Tokens of people and programs that let somebody in, as they were then. */
  readonly validTokens: number
}

/** Every database of a hub has these, of whatever version. */
const OURS = ["log_sessions", "events", "sessions", "tokens"]

/** Puts a backup where a hub looks for its database. Whoever calls holds the lock of that folder. */
export async function restore(file: string, target: string, onProgress: OnProgress = () => {}): Promise<Restored> {
  requireFree(target, "--data")
  const bytes = requireBackup(file)
  const partial = partialOf(target)
  try {
    removePartials(target)
    requireRoom(target, bytes)
    await copy(file, partial, (done) => onProgress(done, bytes))
    const found = await readCopy(file, partial)
    nameFinished(partial, target)
    return found
  } catch (error) {
    throw writeFailure(error, target)
  } finally {
    removeWithCompanions(partial)
  }
}

/** A log or journal without its database counts too: SQLite would read it into the one that is put beside it. */
export function requireFree(target: string, option: "--data" | "--to"): void {
  const bytesOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.size
  const left = [`${target}-wal`, `${target}-journal`].find((path) => (bytesOf(path) ?? 0) > 0)
  const there = bytesOf(target) === undefined ? left : target
  if (there !== undefined) throw taken(there, `choose another directory with ${option}`)
}

/** Its length. What can be known without copying is known before. */
function requireBackup(file: string): number {
  const header = headerOf(file)
  if (header === undefined) throw noBackup(file, "it is not a database")
  const { fileBytes, statedBytes, schema } = header
  if (fileBytes !== statedBytes) throw noBackup(file, `it has ${fileBytes} bytes and should have ${statedBytes}`)
  requireKnownSchema(file, schema)
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return fileBytes
  const why = "it has a write-ahead log beside it, so it was copied from a hub that was running"
  throw noBackup(file, why)
}

function headerOf(file: string): ReturnType<typeof readHeader> {
  try {
    return readHeader(file)
  } catch (cause) {
    const code = codeOf(cause)
    const message =
      code === "EACCES" || code === "EPERM"
        ? `no permission to read ${file}: change its permissions`
        : `can't read ${file}: ${code === "ENOENT" ? "there is no such file" : reasonOf(cause)}`
    throw new HubError("data/missing", message, { cause })
  }
}

async function copy(file: string, partial: string, onDone: (bytes: number) => void): Promise<void> {
  let done = 0
  const counting = new Transform({
    transform(chunk: Buffer, _, next) {
      done += chunk.length
      onDone(done)
      next(null, chunk)
    },
  })
  await pipeline(createReadStream(file), counting, createWriteStream(partial, { flags: "wx", mode: 0o600 }))
}

/**
 * The copy is looked at, not the file: that may lie where nothing can be written beside it. A block of lines that can't be unpacked is
 * no reason to refuse the rest.
 */
async function readCopy(file: string, partial: string): Promise<Restored> {
  const foreign = foreignIn(partial)
  if (foreign !== undefined) throw noBackup(file, foreign)
  const problem = await problemOf(partial, "indexes")
  if (problem !== undefined) throw noBackup(file, `it is damaged: ${problem}`)
  const database = openAsIs(partial)
  try {
    return { ...survey(database), validTokens: countValidTokens(database) }
  } finally {
    database.close()
  }
}

/**
 * A hub runs what its database's schema says, triggers and computed columns too, and anybody may have written this one: it must be what
 * our own migrations make, however it is quoted. Undefined: it is, or it can't be read, which the next check says.
 */
function foreignIn(partial: string): string | undefined {
  const [given, own] = [openAsIs(partial), openAsIs(":memory:")]
  try {
    const tables = tablesOf(given)
    if (!OURS.every((table) => tables.includes(table))) return "it is another program's database"
    makeSchema(own, Number(given.get("PRAGMA user_version", [])?.[0] ?? 0))
    const [theirs, ours] = [textsOf(given), textsOf(own)]
    const odd =
      [...theirs].find(([name, text]) => ours.get(name) !== text) ?? [...ours].find(([name]) => !theirs.has(name))
    return odd === undefined
      ? undefined
      : `its ${odd[0]} is not as a hub makes it; "signalbox salvage" takes the rows alone`
  } catch (error) {
    if (!isUnreadableSchema(error)) throw error
    return undefined
  } finally {
    for (const database of [given, own]) database.close()
  }
}

/** By kind and name. SQLite's own tables can't be written by hand. */
function textsOf(database: Database): ReadonlyMap<string, string> {
  const read = `SELECT type || ' "' || name || '"', tbl_name || ' ' || coalesce(sql, '')
    FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'`
  const plain = (sql: string) => sql.replaceAll(/["'`[\]\s]+/g, "").toLowerCase()
  return new Map(database.all(read, []).map(([name, text]) => [String(name), plain(String(text))]))
}

/** By their bodies: older versions have no columns for it. */
function countValidTokens(database: Database): number {
  const isValid = `json_extract(body, '$.role') <> 'agent'
    AND coalesce(julianday(json_extract(body, '$.expiresAt')) > julianday('now'), 1)`
  const count = `SELECT count(*) FROM tokens WHERE revoked = 0 AND CASE WHEN json_valid(body) THEN ${isValid} END`
  return Number(database.get(count, [])?.[0] ?? 0)
}

function noBackup(file: string, why: string): HubError {
  const message = `${file} can't be restored (${why}): choose a file that "signalbox backup" made`
  return new HubError("data/no-backup", message)
}
