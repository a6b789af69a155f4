import { dropBlocks } from "./cold/keep-block.ts"
import type { Database } from "./database.ts"
import type { EventKeys } from "./event-keys.ts"
import type { SessionHeads } from "./session-heads.ts"
import type { JournalStage } from "./transaction.ts"

/** One step deletes no more than this, for a few milliseconds of work: whoever else writes waits for it. */
const STEP_EVENTS = 500
const STEP_BYTES = 512 * 1024
const STEP_KEYS = 2_000
const STEP_BLOCKS = 8
const STEP_LOGS = 200

/** Names of logs that no session has, and the first name after all of them. Sessions have uuids. */
const PURGED = "purged "
const AFTER_PURGED = "purged!"
/** The log that holds the last number of all where that was a purged one's. */
const LAST = `${PURGED}last`

/** Condition on `log_sessions`: the log is a session's. */
export const IS_OF_A_SESSION = `name <> '' AND NOT (name >= '${PURGED}' AND name < '${AFTER_PURGED}')`

/** The events that were there before it, and what is known of them. */
export interface PurgedLogsParts {
  readonly database: Database
  readonly stage: Pick<JournalStage, "flush">
  readonly heads: SessionHeads
  readonly keys: EventKeys
}

/** Logs of purged sessions: without a name nobody finds them, and their events are deleted some at a time. Runs inside transactions. */
export class PurgedLogs {
  readonly #parts: PurgedLogsParts
  readonly #database: Database
  /** No log before this number has events to be deleted: a queue of thousands is not gone through for each of them. */
  #from = 0

  constructor(parts: PurgedLogsParts) {
    this.#parts = parts
    this.#database = parts.database
  }

  /** From here on the session has no events. */
  begin(session: string): void {
    const { stage, heads, keys } = this.#parts
    // Events that were appended before are purged with the others.
    stage.flush()
    const head = heads.find(session)
    if (head === undefined) return
    this.#database.run("UPDATE log_sessions SET name = ? WHERE id = ?", [`${PURGED}${head.number}`, head.number])
    this.#database.run("INSERT INTO purged_logs (number) VALUES (?)", [head.number])
    this.#from = Math.min(this.#from, head.number)
    heads.forget(session)
    keys.drop(head.number)
  }

  /** A log that has events to be deleted. */
  next(): number | undefined {
    const first = "SELECT number FROM purged_logs WHERE number >= ? AND is_empty = 0 ORDER BY number LIMIT 1"
    const row = this.#database.get(first, [this.#from])
    this.#from = Number(row?.[0] ?? Number.MAX_SAFE_INTEGER)
    return row && this.#from
  }

  /** Deletes some events of this log. */
  deleteSome(number: number): void {
    if (this.#deleteEvents(number) || this.#deleteKeys(number)) return
    if (dropBlocks(this.#database, number, STEP_BLOCKS) > 0) return
    this.#database.run("UPDATE purged_logs SET is_empty = 1 WHERE number = ?", [number])
  }

  /** Numbers whose events are deleted, and that the search index may still have; not all at once, and none behind those to be deleted. */
  empty(): readonly number[] {
    return this.#database
      .all("SELECT number FROM purged_logs WHERE number < ? AND is_empty = 1 LIMIT ?", [this.#from, STEP_LOGS])
      .map(([number]) => Number(number))
  }

  /** Nothing knows these any more. The last number of all stays taken, so that no session gets it again. */
  end(numbers: readonly number[]): void {
    const isNotLast = "id < (SELECT max(id) FROM log_sessions)"
    this.#database.run(`DELETE FROM log_sessions WHERE name = ? AND ${isNotLast}`, [LAST])
    for (const number of numbers) {
      this.#database.run("DELETE FROM purged_logs WHERE number = ?", [number])
      if (this.#database.run(`DELETE FROM log_sessions WHERE id = ? AND ${isNotLast}`, [number]) === 0)
        this.#database.run("UPDATE log_sessions SET name = ? WHERE id = ?", [LAST, number])
    }
  }

  /** True: there may be more. */
  #deleteEvents(number: number): boolean {
    const { last, isLast } = this.#endOfStep(number)
    if (last === undefined) return false
    this.#holdLastId(number)
    this.#count(this.#database.run("DELETE FROM events WHERE session = ? AND seq <= ?", [number, last]))
    return !isLast
  }

  /** Lengths are in the rows' headers, so long lines are not loaded to be counted. */
  #endOfStep(number: number): { readonly last: number | undefined; readonly isLast: boolean } {
    const sizes = "SELECT seq, octet_length(line) FROM events WHERE session = ? ORDER BY seq LIMIT ?"
    const rows = this.#database.all(sizes, [number, STEP_EVENTS])
    let last: number | undefined
    let bytes = 0
    for (const [seq, size] of rows) {
      bytes += Number(size)
      if (bytes > STEP_BYTES && last !== undefined) return { last, isLast: false }
      last = Number(seq)
    }
    return { last, isLast: rows.length < STEP_EVENTS }
  }

  /** True: there are more. */
  #deleteKeys(number: number): boolean {
    const nth = "SELECT slot FROM event_keys WHERE session = ? ORDER BY slot LIMIT 1 OFFSET ?"
    const [next] = this.#database.get(nth, [number, STEP_KEYS]) ?? []
    const upTo = next ?? Number.MAX_SAFE_INTEGER
    this.#database.run("DELETE FROM event_keys WHERE session = ? AND slot <= ?", [number, upTo])
    return next !== undefined
  }

  /** An event that is deleted as the last of all would give its number to the next one. */
  #holdLastId(number: number): void {
    const newest = "SELECT id, session, at FROM events ORDER BY id DESC LIMIT 1"
    const [last, owner, at = null] = this.#database.get(newest, []) ?? []
    if (last === undefined || Number(owner) !== number) return
    const [holder = null] = this.#database.get("SELECT id FROM log_sessions WHERE name = ''", []) ?? []
    const held = Number(last) + 1
    // The one that held it before was counted then.
    this.#database.run("DELETE FROM events WHERE session = ?", [holder])
    this.#count(1)
    // Searches look for a time among events in the order of their numbers: the holder has a time that fits there.
    const hold = "INSERT INTO events (id, session, seq, at, origin, line) VALUES (?, ?, ?, ?, 'hub', '')"
    this.#database.run(hold, [held, holder, held, at])
  }

  /** So many numbers of events are no event's. */
  #count(gone: number): void {
    this.#database.run("UPDATE store_marks SET value = value + ? WHERE name = 'purged-events'", [gone])
  }
}
