/** @import { PostgresReader } from "./reader.js" */

/** Logs that are known to have events which are not indexed. If there are more, they are looked for again. */
const MAX_BEHIND = 1_000
const MAX_NOTED = 10_000
/** One step stops after the first event that takes it past these. */
const STEP_LOGS = 20
const STEP_EVENTS = 200
const STEP_BYTES = 256 * 1024

const BEHIND = `SELECT logs.number, coalesce(search_logs.indexed_to, 0), logs.last_seq
  FROM logs LEFT JOIN search_logs ON search_logs.log = logs.number
  WHERE logs.name IS NOT NULL AND logs.last_seq > coalesce(search_logs.indexed_to, 0)`
const SIZES = `SELECT next.log, next.seq, next.bytes FROM unnest($1::int[], $2::int[]) WITH ORDINALITY AS behind (log, indexed_to, place)
  CROSS JOIN LATERAL (
    SELECT events.log, events.seq, events.bytes FROM events
    WHERE events.log = behind.log AND events.seq > behind.indexed_to ORDER BY events.seq LIMIT ${STEP_EVENTS}
  ) AS next ORDER BY behind.place, next.seq`
const FIRST_AT = `SELECT min(events.at) FROM unnest($1::int[], $2::int[]) AS behind (log, indexed_to)
  JOIN events ON events.log = behind.log AND events.seq = behind.indexed_to + 1`
const NOW = "SELECT extract(epoch FROM clock_timestamp()) * 1000"

/** @typedef {{ log: number, after: number, upTo: number }} LogPart events with `after < seq <= upTo` */

/** Knows which logs the index has to follow, and how far it has come in each. */
export class LogsBehind {
  #reader
  /** @type {Map<number, { indexedTo: number, lastSeq: number }>} */
  #logs = new Map()
  /** Logs with commits that were not looked at yet. @type {Set<number>} */
  #noted = new Set()
  /** All of them have to be looked at: at the start, and when there were too many to remember. */
  #mustLookAtAll = true
  #areThereMore = false

  /** @param {PostgresReader} reader */
  constructor(reader) {
    this.#reader = reader
  }

  get isNone() {
    return this.#logs.size === 0 && this.#noted.size === 0 && !this.#mustLookAtAll && !this.#areThereMore
  }

  /** @param {readonly number[]} logs */
  note(logs) {
    for (const log of logs) this.#noted.add(log)
    if (this.#noted.size <= MAX_NOTED) return
    this.#noted.clear()
    this.#mustLookAtAll = true
  }

  lookAtAll() {
    this.#mustLookAtAll = true
  }

  /** @param {number} log */
  forget(log) {
    this.#logs.delete(log)
    this.#noted.delete(log)
  }

  /** The next events to be indexed, log by log. @returns {Promise<readonly LogPart[]>} */
  async next() {
    await this.#look()
    const logs = [...this.#logs].slice(0, STEP_LOGS)
    if (logs.length === 0) return []
    const columns = [logs.map(([log]) => log), logs.map(([, { indexedTo }]) => indexedTo)]
    const sizes = (await this.#reader.rows(SIZES, columns)).map((row) => row.map(Number))
    const seen = new Set(sizes.map(([log]) => log))
    // Their events were purged meanwhile.
    for (const [log] of logs) if (!seen.has(log)) this.#logs.delete(log)
    return this.#partsOf(sizes)
  }

  /** These are in the index. @param {readonly LogPart[]} parts */
  take(parts) {
    for (const { log, upTo } of parts) {
      const known = this.#logs.get(log)
      this.#logs.delete(log)
      // At the end of the line, so that none waits for one that has much to say.
      if (known !== undefined && upTo < known.lastSeq) this.#logs.set(log, { ...known, indexedTo: upTo })
    }
  }

  /** How many events can be found, and up to when all of them. */
  async progress() {
    await this.#look()
    const [indexedTo] = await this.#reader.first("SELECT coalesce(sum(indexed_to), 0) FROM search_logs")
    const logs = [...this.#logs]
    const columns = [logs.map(([log]) => log), logs.map(([, known]) => known.indexedTo)]
    const [first] = logs.length === 0 ? [] : await this.#reader.first(FIRST_AT, columns)
    const [at] = first == null ? await this.#reader.first(NOW) : [Number(first) - 1]
    return { indexedTo: Number(indexedTo), indexedAt: new Date(Number(at)).toISOString() }
  }

  /** At what is new, or at all there is. What it cannot read it looks at again. */
  async #look() {
    const all = this.#mustLookAtAll || (this.#areThereMore && this.#logs.size === 0)
    const noted = [...this.#noted]
    if (!all && noted.length === 0) return
    this.#mustLookAtAll = false
    this.#noted.clear()
    try {
      const rows = all
        ? await this.#reader.rows(`${BEHIND} ORDER BY logs.number LIMIT ${MAX_BEHIND}`)
        : await this.#reader.rows(`${BEHIND} AND logs.number = ANY ($1::int[])`, [noted])
      for (const row of rows) {
        const [log = 0, indexedTo = 0, lastSeq = 0] = row.map(Number)
        this.#logs.set(log, { indexedTo: Math.max(indexedTo, this.#logs.get(log)?.indexedTo ?? 0), lastSeq })
      }
      if (all) this.#areThereMore = rows.length === MAX_BEHIND
    } catch (error) {
      this.#mustLookAtAll = true
      throw error
    }
  }

  /** @param {readonly (readonly number[])[]} sizes */
  #partsOf(sizes) {
    /** @type {Map<number, LogPart>} */
    const parts = new Map()
    let events = 0
    let bytes = 0
    for (const [log = 0, seq = 0, size = 0] of sizes) {
      const part = parts.get(log) ?? { log, after: seq - 1, upTo: seq }
      parts.set(log, { ...part, upTo: seq })
      bytes += size
      if (++events === STEP_EVENTS || bytes > STEP_BYTES) break
    }
    return [...parts.values()]
  }
}
