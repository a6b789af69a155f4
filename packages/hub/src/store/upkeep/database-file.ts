import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { bytesWords } from "@signalbox/protocol"
import { HubError, reasonOf } from "../../errors.ts"

const HEADER_BYTES = 100
const MAGIC = "SQLite format 3\0"

export interface FileHeader {
  readonly fileBytes: number
  /** How long the file should be, by the number of its pages. */
  readonly statedBytes: number
  readonly schema: number
}

/** The facts that a database has about itself in its first bytes, without SQLite, which would make files beside it. Undefined: it is no database. */
export function readHeader(file: string): FileHeader | undefined {
  const descriptor = openSync(file, "r")
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    const bytes = readSync(descriptor, header, 0, HEADER_BYTES, 0)
    if (bytes < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined
    const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
    const statedBytes = header.readUInt32BE(28) * pageBytes
    return { fileBytes: fstatSync(descriptor).size, statedBytes, schema: header.readUInt32BE(60) }
  } finally {
    closeSync(descriptor)
  }
}

/** Files that SQLite may leave beside a database that is being written. */
const BESIDE = ["", "-journal", "-wal", "-shm"]

export function removeWithCompanions(file: string): void {
  for (const end of BESIDE) rmSync(file + end, { force: true })
}

/** The name under which a file is written before it gets its own. The pid tells whether somebody is still at it. */
export function partialOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.${process.pid}.partial`)
}

/** Removes what this process, or one that was killed, left of a file that did not get its name. */
export function removePartials(file: string): void {
  const start = `.${basename(file)}.`
  for (const name of namesIn(dirname(file))) {
    const pid = name.startsWith(start) ? /^(\d+)\.partial(?:-\w+)?$/.exec(name.slice(start.length))?.[1] : undefined
    if (pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid))))
      rmSync(join(dirname(file), name), { force: true })
  }
}

/** None if it cannot be read: whoever writes there next says why. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM"
  }
}

/** Gives a finished file its name. A file that is there is never replaced, not even one that came meanwhile. */
export function nameFinished(partial: string, file: string): void {
  // A write-ahead log would stay behind, with what was written last.
  if ((statSync(`${partial}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new HubError("data/failed", `${file} was not written to its end: check its disk, then try again`)
  sync(partial)
  try {
    linkSync(partial, file)
  } catch (error) {
    if (codeOf(error) === "EEXIST" || existsSync(file)) throw taken(file, "choose another name")
    // Not every file system has links.
    renameSync(partial, file)
  }
  rmSync(partial, { force: true })
  try {
    sync(dirname(file))
  } catch {
    // Not every system can sync a folder; the file itself is on the disk.
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Nothing is overwritten. */
export function taken(file: string, todo: string): HubError {
  return new HubError("data/taken", `${file} already exists: ${todo}`)
}

/** Said before hours of copying, not after. */
export function requireRoom(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file))
  if (bavail * bsize >= bytes) return
  const message = `${file} needs about ${bytesWords(bytes)} and its disk has ${bytesWords(bavail * bsize)} free: free some space, or choose another disk`
  throw new HubError("data/full", message)
}

/** Why a file could not be written, and what to do. */
export function writeFailure(error: unknown, file: string): HubError {
  if (error instanceof HubError) return error
  const code = codeOf(error)
  const why = (kind: "full" | "unwritable" | "damaged" | "failed", message: string) =>
    new HubError(`data/${kind}`, message, { cause: error })
  if (/^(?:ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code))
    return why("full", `the disk is full, and ${file} was not written: free some space, or choose another disk`)
  if (/^(?:ENOENT|ENOTDIR)$/.test(code))
    return why("unwritable", `there is no folder ${dirname(file)}: create it, or choose another name`)
  if (/^(?:EACCES|EPERM|EROFS|SQLITE_CANTOPEN|SQLITE_READONLY)/.test(code))
    return why(
      "unwritable",
      `can't write to ${dirname(file)} (${code}): change its permissions, or choose another folder`,
    )
  if (isUnreadable(error))
    return why("damaged", `the database is damaged (${reasonOf(error)}): see what can be saved with "signalbox doctor"`)
  return why("failed", `${file} could not be written: ${reasonOf(error)}`)
}

/** True if the fault is in the pages that were read, not in the disk that was written. */
export function isUnreadable(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB|TOOBIG|MISMATCH)/.test(codeOf(error))
}

/** The same where a damaged schema is expected: SQLite then may not know a table, a column or an index. Elsewhere that is our mistake. */
export function isUnreadableSchema(error: unknown): boolean {
  return isUnreadable(error) || codeOf(error).startsWith("SQLITE_ERROR")
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
}
