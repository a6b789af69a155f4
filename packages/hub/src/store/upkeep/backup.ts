import { lstatSync, statSync, writeFileSync } from "node:fs"
import { HubError } from "../../errors.ts"
import { type Database, openAsIs } from "../database.ts"
import { requireKnownSchema } from "../migrations/index.ts"
import {
  nameFinished,
  partialOf,
  readHeader,
  removePartials,
  requireRoom,
  taken,
  writeFailure,
} from "./database-file.ts"
import { copyInThread, problemOf } from "./in-thread.ts"
import { type LastNumbers, lastNumbers, type Survey, survey } from "./soundness.ts"

/** How far a copy has come, in bytes. */
export type OnProgress = (done: number, total: number) => void

export interface BackupReport {
  readonly file: string
  readonly bytes: number
  readonly schema: number
  readonly rows: Readonly<Record<string, number>>
}

const LOOK_MS = 200

/**
 * One file with everything the database has at one moment, while its hub writes on. Until the copy was read back and found
 * whole it has another name. The reader keeps the write-ahead log from starting over, so that grows by what is written
 * meanwhile, and is cut to its bound afterwards.
 */
export async function backUp(source: string, file: string, onProgress: OnProgress = () => {}): Promise<BackupReport> {
  const partial = partialOf(file)
  const written = () => statSync(partial, { throwIfNoEntry: false })?.size ?? 0
  let timer: NodeJS.Timeout | undefined
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw taken(file, "choose another name")
    removePartials(file)
    const before = look(source, survey)
    requireKnownSchema(source, before.schema)
    const least = look(source, lastNumbers)
    writeFileSync(partial, "", { mode: 0o600, flag: "wx" })
    requireRoom(file, before.bytes)
    timer = setInterval(() => onProgress(written(), before.bytes), LOOK_MS)
    await copyInThread(source, partial)
    const copy = await readBack(partial, least)
    const bytes = written()
    nameFinished(partial, file)
    return { file, bytes, schema: copy.schema, rows: copy.rows }
  } catch (error) {
    throw writeFailure(error, file)
  } finally {
    clearInterval(timer)
    removePartials(file)
  }
}

function look<T>(file: string, read: (database: Database) => T): T {
  const database = openAsIs(file)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** The hub writes and purges meanwhile, so rows may come and go: the copy has at least the numbers that were given before. */
async function readBack(partial: string, least: LastNumbers): Promise<Survey> {
  const header = readHeader(partial)
  if (header === undefined || header.fileBytes !== header.statedBytes)
    throw notWhole(`it has ${header?.fileBytes ?? 0} of ${header?.statedBytes ?? "unknown"} bytes`)
  const problem = await problemOf(partial, "whole")
  if (problem !== undefined) throw notWhole(problem)
  const found = look(partial, lastNumbers)
  for (const [table, number] of Object.entries(least))
    if ((found[table] ?? 0) < number) throw notWhole(`its ${table} end at ${found[table] ?? 0}, not at ${number}`)
  return look(partial, survey)
}

function notWhole(why: string): HubError {
  const message = `the copy was read back and is not whole (${why}), so it was not kept: check the database with "signalbox doctor" and the disk, then try again`
  return new HubError("data/failed", message)
}
