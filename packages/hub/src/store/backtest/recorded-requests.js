import { policyRequestOf } from "@signalbox/policy"
import { fieldOf } from "@signalbox/protocol"

/**
 * @import { PolicyContext, PolicyRequest } from "@signalbox/policy"
 * @import { AskRecord } from "../../model/ask.ts"
 * @import { Connection } from "../search/connection.js"
 */

/**
 * The session in which it was made, and when. As if no rule had been used up: how often it was by then is not kept.
 * @typedef {PolicyContext & { readonly now: number, readonly used: Readonly<Record<string, never>> }} RecordedContext
 */

/**
 * A request of the past. Without `request` it cannot be judged: its input is gone, or too long to be read.
 * @typedef {object} Recorded
 * @property {string} session
 * @property {number} seq
 * @property {string} ask
 * @property {string} at
 * @property {PolicyRequest | undefined} request
 * @property {RecordedContext} context
 * @property {{ readonly by: string, readonly outcome: "allowed" | "denied", readonly isEdited: boolean } | undefined} answer of a person
 */

const PAGE_ROWS = 500
/** Longer rows are left alone: what rules look at is far shorter, and one of 32 MB takes as long as thousands. */
const MAX_BYTES = 4 * 1024 * 1024
/** Longer ones are read one by one, so that no page takes much memory. */
const SHORT_BYTES = 64 * 1024
const MAX_SESSIONS = 20_000

const BODY = `CASE WHEN octet_length(body) <= ${MAX_BYTES} THEN body END`
const SHORT_BODY = `CASE WHEN octet_length(body) <= ${SHORT_BYTES} THEN body END`
const PAGES = {
  all: `SELECT number, id, session, ${SHORT_BODY} FROM asks WHERE number < ? ORDER BY number DESC LIMIT ${PAGE_ROWS}`,
  denied: `SELECT number, id, session, ${SHORT_BODY} FROM asks WHERE state = 'denied' AND number < ? ORDER BY number DESC LIMIT ${PAGE_ROWS}`,
}
const LINE = `SELECT CASE WHEN octet_length(line) <= ${MAX_BYTES} THEN line END FROM events WHERE session = ? AND seq = ?`

/**
 * The requests that the store has, each once, newest first. One source at a time: further kinds of recorded calls are merged
 * here, by their time.
 */
export class RecordedRequests {
  #log
  /** @type {Map<string, { readonly number: unknown, readonly context: PolicyContext }>} */
  #sessions = new Map()

  /** @param {Connection} log */
  constructor(log) {
    this.#log = log
  }

  /** About how many there are since then. @param {string | undefined} since */
  count(since) {
    return Number(this.#log.first("SELECT count(*) FROM asks WHERE number >= ?", [this.#firstSince(since)])[0] ?? 0)
  }

  /**
   * Each page is a read of its own, so that the log can be written and tidied meanwhile.
   * @param {{ readonly since?: string | undefined, readonly only?: "denied" }} [wanted]
   * @returns {Generator<Recorded, void>}
   */
  *newestFirst({ since, only } = {}) {
    const end = this.#firstSince(since)
    let before = Number.MAX_SAFE_INTEGER
    for (;;) {
      const rows = this.#log.rows(PAGES[only ?? "all"], [before])
      for (const [number, id, session, body] of rows) {
        if (Number(number) < end) return
        before = Number(number)
        const [long] = body === null ? this.#log.first(`SELECT ${BODY} FROM asks WHERE number = ?`, [number]) : [body]
        yield this.#recorded(String(id), String(session), long)
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /** @param {string} ask @param {string} session @param {unknown} body @returns {Recorded} */
  #recorded(ask, session, body) {
    const record = askIn(body)
    const { number, context } = this.#session(session)
    const { seq = 0, askedAt: at = "", judgedIn, via, state, settledBy: by, answer } = record ?? {}
    const isAnswered = via === "person" && (state === "allowed" || state === "denied")
    return {
      session,
      seq,
      ask,
      at,
      request: record && this.#request(record, number),
      context: { ...(judgedIn ?? context), session, now: Date.parse(at), used: {} },
      answer: isAnswered
        ? { by: by ?? "", outcome: state, isEdited: answer?.["updatedInput"] !== undefined }
        : undefined,
    }
  }

  /** @param {AskRecord} record @param {unknown} sessionNumber */
  #request(record, sessionNumber) {
    if (record.request !== undefined) return policyRequestOf(record.request)
    const [line] = this.#log.first(LINE, [sessionNumber, record.seq])
    return policyRequestOf(fieldOf(parsed(line), "request"))
  }

  /** As it is now: requests of older hubs do not say in which folder and mode they were made. @param {string} id */
  #session(id) {
    const known = this.#sessions.get(id)
    if (known !== undefined) return known
    if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.clear()
    const [number = null] = this.#log.first("SELECT id FROM log_sessions WHERE name = ?", [id])
    const [record] = this.#log.first("SELECT record FROM sessions WHERE id = ?", [id])
    const { cwd, permissionMode: mode } = sessionIn(record)
    const session = { number, context: { session: id, cwd: cwd ?? undefined, mode: mode ?? undefined } }
    this.#sessions.set(id, session)
    return session
  }

  /** The number of the first one of that time or later: they are numbered as they came. @param {string | undefined} since */
  #firstSince(since) {
    if (since === undefined) return 0
    let low = 1
    let high = Number(this.#log.first("SELECT max(number) FROM asks WHERE number > 0")[0] ?? 0) + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [number, body] = this.#log.first(
        `SELECT number, ${BODY} FROM asks WHERE number >= ? ORDER BY number LIMIT 1`,
        [middle],
      )
      const at = askIn(body)?.askedAt
      if (number === undefined || (at !== undefined && at >= since)) high = middle
      else low = Number(number) + 1
    }
    return low
  }
}

/** @param {unknown} text @returns {unknown} */
function parsed(text) {
  // A line with a NUL in it is kept as bytes.
  const json = text instanceof Uint8Array ? Buffer.from(text).toString() : text
  try {
    return typeof json === "string" ? JSON.parse(json) : undefined
  } catch {
    return undefined
  }
}

/** @param {unknown} body @returns {AskRecord | undefined} */
function askIn(body) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return /** @type {AskRecord | undefined} */ (parsed(body))
}

/** @param {unknown} record @returns {{ cwd?: string | null, permissionMode?: string | null }} */
function sessionIn(record) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return /** @type {{} | undefined} */ (parsed(record)) ?? {}
}
