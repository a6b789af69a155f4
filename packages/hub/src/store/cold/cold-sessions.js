import { packLines } from "./line-block.js"

/**
 * @import { Connection } from "../search/connection.js"
 * @import { ColdBefore, ColdBlock } from "./cold-messages.ts"
 */

/**
 * @typedef {object} ColdSession
 * @property {number} number
 * @property {number} last its last event
 * @property {ReadonlySet<number>} referred events that an ask or a seen call refers to
 */

/** @typedef {{ readonly kind: "block", readonly block: ColdBlock } | { readonly kind: "looked" } | { readonly kind: "end" }} Step */

/** Small enough to be unpacked for a page, and to be committed between two turns of the event loop. */
const BLOCK_EVENTS = 128
const BLOCK_BYTES = 128 * 1024
/** Longer lines stay as they are. Most are pictures, which cannot be compressed. */
const MAX_LINE_BYTES = 1024 * 1024
/** A block must save so many bytes. */
const LEAST_SAVED_BYTES = 512
const PAGE_SESSIONS = 200

const SESSIONS = `
  SELECT log.id, log.name, log.cold_to, (SELECT max(seq) FROM events WHERE session = log.id), sessions.state
  FROM log_sessions AS log LEFT JOIN sessions ON sessions.id = log.name
  WHERE log.id > ? ORDER BY log.id LIMIT ${PAGE_SESSIONS}`
const SIZES = `SELECT seq, CASE typeof(line) WHEN 'text' THEN octet_length(line) END
  FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${2 * BLOCK_EVENTS}`
const LINES = "SELECT seq, line FROM events WHERE session = ? AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
const ASKED = "SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.seq') END FROM asks WHERE session = ?"
const SEEN = "SELECT seq FROM seen_calls WHERE session = ?"

/** Looks at all sessions, one after the other, and makes blocks of what is cold. */
export class ColdSessions {
  #log
  #before
  #leastSaved
  #lookedAt = 0
  /** @type {(readonly unknown[])[]} */
  #page = []
  /** @type {ColdSession | undefined} */
  #current
  /** Some were not cold, or could not be read: another time. */
  isLeft = false

  /** @param {Connection} log @param {ColdBefore} before */
  constructor(log, before, leastSaved = LEAST_SAVED_BYTES) {
    this.#log = log
    this.#before = before
    this.#leastSaved = leastSaved
  }

  /** A block that is given is kept before the next step. @returns {Step} */
  step() {
    try {
      const block = this.#current && this.#blockOf(this.#current)
      if (block !== undefined) return { kind: "block", block }
      this.#current = this.#next()
    } catch {
      // A damaged session is told to whoever reads it. Other sessions can still be compressed.
      this.#current = undefined
      this.isLeft = true
    }
    return this.#current === undefined && this.#page.length === 0 && !this.#turnPage()
      ? { kind: "end" }
      : { kind: "looked" }
  }

  #turnPage() {
    const rows = this.#log.rows(SESSIONS, [this.#lookedAt])
    this.#lookedAt = Number(rows.at(-1)?.[0] ?? this.#lookedAt)
    this.#page = rows.filter(([, , coldTo, last]) => Number(last) > Number(coldTo)).toReversed()
    return rows.length > 0
  }

  /** The next cold one of the page. @returns {ColdSession | undefined} */
  #next() {
    const row = this.#page.pop()
    if (row === undefined) return undefined
    const [number, name, , last, state] = row
    const [at] = this.#log.first("SELECT at FROM events WHERE session = ? AND seq = ?", [number, last])
    if (Number(at) > this.#before[state === "ended" ? "ended" : "others"]) {
      this.isLeft = true
      return undefined
    }
    const referred = [...this.#log.rows(ASKED, [name]), ...this.#log.rows(SEEN, [name])].map(([seq]) => Number(seq))
    return { number: Number(number), last: Number(last), referred: new Set(referred) }
  }

  /** Undefined when it is done. @param {ColdSession} session @returns {ColdBlock | undefined} */
  #blockOf({ number, last, referred }) {
    const from = Number(this.#log.first("SELECT cold_to FROM log_sessions WHERE id = ?", [number])[0] ?? last)
    const sizes = this.#log.rows(SIZES, [number, from, last])
    if (sizes.length === 0) return undefined
    const { upTo, chosen } = choose(sizes, referred)
    const lines = this.#lines(number, chosen)
    const block = { session: number, from, upTo }
    const rawBytes = lines.reduce((sum, { seq }) => sum + (chosen.get(seq) ?? 0), 0)
    const body = packLines(lines)
    if (lines.length === 0 || rawBytes - body.length < this.#leastSaved) {
      return { ...block, seqs: [], rawBytes: 0, body: new Uint8Array() }
    }
    return { ...block, seqs: lines.map(({ seq }) => seq), rawBytes, body }
  }

  /**
   * A line that would not come back byte by byte stays as it is.
   * @param {number} session
   * @param {ReadonlyMap<number, number>} sizes
   */
  #lines(session, sizes) {
    return this.#log
      .rows(LINES, [session, JSON.stringify([...sizes.keys()])])
      .map(([seq, line]) => ({ seq: Number(seq), line: String(line) }))
      .filter(({ seq, line }) => Buffer.byteLength(line) === sizes.get(seq))
  }
}

/**
 * How far a block goes, and the lines in it with their sizes.
 * @param {readonly (readonly unknown[])[]} sizes
 * @param {ReadonlySet<number>} referred
 */
function choose(sizes, referred) {
  /** @type {Map<number, number>} */
  const chosen = new Map()
  let bytes = 0
  let upTo = 0
  for (const [at, length] of sizes) {
    const seq = Number(at)
    const size = Number(length ?? 0)
    if (size > 0 && size <= MAX_LINE_BYTES && !referred.has(seq)) {
      if (chosen.size === BLOCK_EVENTS || (chosen.size > 0 && bytes + size > BLOCK_BYTES)) break
      chosen.set(seq, size)
      bytes += size
    }
    upTo = seq
  }
  return { upTo, chosen }
}
