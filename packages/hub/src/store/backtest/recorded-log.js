import { ColdLines } from "../cold/cold-lines.js"

/**
 * @import { PolicyContext } from "@signalbox/policy"
 */

/**
 * A connection that answers at once.
 * @typedef {object} Rows
 * @property {(sql: string, values?: readonly unknown[]) => readonly (readonly unknown[])[]} rows
 * @property {(sql: string, values?: readonly unknown[]) => readonly unknown[]} first
 */

/**
 * The statements in which stores differ.
 * @typedef {object} RecordedSql
 * @property {string} log the number of a session's log
 * @property {string} line an event's, by the number of its log
 * @property {string} isAsked 1 if the call in `seen` became a request
 */

/** Longer rows are left alone: what rules look at is far shorter, and one of 32 MB takes as long as thousands. */
export const MAX_BYTES = 4 * 1024 * 1024
/** Longer ones are read one by one, so that no page takes much memory. */
const SHORT_BYTES = 64 * 1024
const MAX_SESSIONS = 20_000

export const PAGE_ROWS = 500
export const BODY = `CASE WHEN octet_length(body) <= ${MAX_BYTES} THEN body END`
export const SHORT_BODY = `CASE WHEN octet_length(body) <= ${SHORT_BYTES} THEN body END`

/** @type {RecordedSql} */
export const SQLITE = {
  log: "SELECT id FROM log_sessions WHERE name = ?",
  line: `SELECT CASE WHEN octet_length(line) <= ${MAX_BYTES} THEN line END FROM events WHERE session = ? AND seq = ?`,
  isAsked: "EXISTS (SELECT 1 FROM asks WHERE asks.session = seen.session AND asks.tool_use = seen.tool_use)",
}

/** @typedef {PolicyContext & { readonly number: unknown }} RecordedSession */

/** Reads the sessions of recorded requests, and the events that say what they asked. */
export class RecordedLog {
  #log
  #cold
  /** @type {Map<string, RecordedSession>} */
  #sessions = new Map()
  /** The calls of one message come one after the other. @type {{ key: string, event: unknown }} */
  #last = { key: "", event: undefined }

  /** @param {Rows} log @param {RecordedSql} sql */
  constructor(log, sql) {
    this.#log = log
    this.sql = sql
    this.#cold = new ColdLines((sql, values) => log.first(sql, values))
  }

  /** @param {string} sql @param {readonly unknown[]} [values] */
  rows(sql, values) {
    return this.#log.rows(sql, values)
  }

  /** @param {string} sql @param {readonly unknown[]} [values] */
  first(sql, values) {
    return this.#log.first(sql, values)
  }

  /** As it is now: requests of older hubs do not say in which folder and mode they were made. @param {string} id */
  session(id) {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.clear()
    const [number = null] = this.first(this.sql.log, [id])
    const [record] = this.first("SELECT record FROM sessions WHERE id = ?", [id])
    const { cwd, permissionMode: mode, runner } = sessionIn(record)
    /** @type {RecordedSession} */
    const session = { number, session: id, cwd: cwd ?? undefined, mode: mode ?? undefined, runner: runner ?? "" }
    this.#sessions.set(id, session)
    return session
  }

  /** Undefined if it is gone, too long, or no JSON. @param {string} session @param {number} seq */
  event(session, seq) {
    const key = `${seq} ${session}`
    if (this.#last.key !== key) {
      const { number } = this.session(session)
      const [line] = this.first(this.sql.line, [number, seq])
      // Events that asks and calls refer to are in no block, unless SQLite could not read where they refer to.
      const isCold = typeof line === "number"
      this.#last = { key, event: parsed(isCold ? this.#cold.tryLine(Number(number), seq) : line) }
    }
    return this.#last.event
  }
}

/** @param {unknown} text @returns {unknown} */
export function parsed(text) {
  // A line with a NUL in it is kept as bytes.
  const json = text instanceof Uint8Array ? Buffer.from(text).toString() : text
  try {
    return typeof json === "string" ? JSON.parse(json) : undefined
  } catch {
    return undefined
  }
}

/** @param {unknown} record @returns {{ cwd?: string | null, permissionMode?: string | null, runner?: string | null }} */
function sessionIn(record) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return /** @type {{} | undefined} */ (parsed(record)) ?? {}
}
