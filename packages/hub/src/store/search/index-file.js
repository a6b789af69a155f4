import { rmSync } from "node:fs"
import { Connection } from "./connection.js"

/** Version of the index's own tables: an index of another version is rebuilt. */
const VERSION = 2
/** Before the first table: pages that purged sessions leave behind can be given back. */
const NEW = "PRAGMA auto_vacuum = INCREMENTAL;"
const SETTINGS = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
const SCHEMA = `
  BEGIN;
  CREATE VIRTUAL TABLE event_text USING fts5 (
    session, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  CREATE TABLE progress (indexed_to INTEGER NOT NULL, log TEXT NOT NULL, last_event TEXT NOT NULL);
  PRAGMA user_version = ${VERSION};
  COMMIT;
`

/**
 * The log, to be read only. Somebody must close it.
 * @param {string} file
 */
export function openLog(file) {
  return new Connection(file, "PRAGMA busy_timeout = 5000; PRAGMA query_only = ON")
}

/**
 * The index that belongs to the log. One that is broken, of another version, of another log, or ahead of a log that lost
 * its end (a power cut, an older copy put back) is made anew. Somebody must close it.
 * @param {string} file
 * @param {Connection} log
 */
export function openIndex(file, log) {
  const index = openIfFits(file, log)
  if (index !== undefined) return index
  for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true })
  const made = new Connection(file, NEW + SETTINGS + SCHEMA)
  made.run("INSERT INTO progress VALUES (0, ?, '')", [identityOf(log)])
  return made
}

/** @param {string} file @param {Connection} log @returns {Connection | undefined} */
function openIfFits(file, log) {
  let index
  try {
    index = new Connection(file, SETTINGS)
    if (fits(index, log)) return index
  } catch (error) {
    if (!isBroken(error)) throw error
  }
  index?.close()
  return undefined
}

/** @param {Connection} index @param {Connection} log */
function fits(index, log) {
  if (Number(index.first("PRAGMA user_version")[0] ?? 0) !== VERSION) return false
  const [indexedTo, ofLog, lastEvent] = index.first("SELECT indexed_to, log, last_event FROM progress")
  return ofLog === identityOf(log) && lastEvent === describeEvent(log, Number(indexedTo))
}

/** @param {unknown} error */
export function isBroken(error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB"
}

/** @param {Connection} log */
function identityOf(log) {
  return String(log.first("SELECT value FROM store_marks WHERE name = 'identity'")[0])
}

/**
 * Enough to tell it from any other that may come to stand in its place. An event that was purged is described by the last one before it.
 * @param {Connection} log
 * @param {number} id
 */
export function describeEvent(log, id) {
  return log.first("SELECT session, seq, at FROM events WHERE id <= ? ORDER BY id DESC LIMIT 1", [id]).join(" ")
}
