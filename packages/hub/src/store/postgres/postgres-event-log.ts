import type { NewEvent, StoredEvent } from "../../model/event.ts"
import {
  type Appended,
  type AppendOptions,
  type EventLog,
  type LineSize,
  type LogBounds,
  MAX_READ_EVENTS,
  type ReadRange,
} from "../event-log.ts"
import { uuidArray } from "./binary-array.ts"
import { keyId } from "./event-batch.ts"
import type { PostgresJournal } from "./postgres-journal.ts"
import type { Reader, SqlRow, SqlValue } from "./statement.ts"
import { fromStored, toStored } from "./stored-text.js"

/** The bytes that an event takes beside its line while it waits. */
const EVENT_OVERHEAD_BYTES = 200
/** One step of a purge deletes no more than this: whoever else writes waits for it. */
const STEP_EVENTS = 500
const STEP_BYTES = 512 * 1024
const STEP_LOGS = 200
const SMALL_BYTES = 200
const EVERYTHING = Number.MAX_SAFE_INTEGER
/** Numbers of events have 32 bits there. */
const LAST_SEQ = 2 ** 31 - 1

const LOG = "(SELECT number FROM logs WHERE name = $1)"
const COLUMNS = "seq, at, origin, by, key, line"

/** The events that a read gives, by the lengths of their lines alone: `$5` bytes of them, but one at least. */
function page(order: "ASC" | "DESC"): string {
  return `
    SELECT seq, bytes FROM (
      SELECT seq, bytes, sum(bytes) OVER reading AS total, row_number() OVER reading AS nth
      FROM (
        SELECT seq, bytes FROM events WHERE log = ${LOG} AND seq > $2 AND seq < $3 ORDER BY seq ${order} LIMIT $4
      ) AS picked
      WINDOW reading AS (ORDER BY seq ${order} ROWS UNBOUNDED PRECEDING)
    ) AS counted
    WHERE total <= $5 OR nth = 1`
}

/** They follow each other without a hole. */
function eventsOf(order: "ASC" | "DESC"): string {
  return `
    SELECT ${COLUMNS} FROM events, (SELECT min(seq) AS first, max(seq) AS last FROM (${page(order)}) AS page) AS range
    WHERE log = ${LOG} AND seq BETWEEN range.first AND range.last ORDER BY seq`
}

const READS = {
  first: { events: eventsOf("ASC"), sizes: `${page("ASC")} ORDER BY seq` },
  last: { events: eventsOf("DESC"), sizes: `${page("DESC")} ORDER BY seq` },
}

const FIND = `SELECT ${COLUMNS} FROM events WHERE log = ${LOG} AND key_id = ($2::uuid[])[1]`
const BOUNDS = `
  SELECT (SELECT min(seq) FROM events WHERE log = logs.number), last_seq FROM logs WHERE name = $1`
const PURGE = "UPDATE logs SET name = NULL WHERE name = $1"
const NEXT_PURGED = "SELECT number, deleted_to FROM logs WHERE name IS NULL AND NOT is_empty ORDER BY number LIMIT 1"
const DELETE_SOME = `
  WITH counted AS (
    SELECT seq, sum(bytes) OVER reading AS total, row_number() OVER reading AS nth
    FROM (SELECT seq, bytes FROM events WHERE log = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS picked
    WINDOW reading AS (ORDER BY seq ROWS UNBOUNDED PRECEDING)
  ), step AS MATERIALIZED (
    SELECT max(seq) AS last FROM counted WHERE total <= $4 OR nth = 1
  ), gone AS (
    DELETE FROM events USING step WHERE log = $1 AND seq > $2 AND seq <= step.last
  )
  UPDATE logs SET deleted_to = coalesce(step.last, last_seq), is_empty = coalesce(step.last, last_seq) >= last_seq
  FROM step WHERE number = $1 AND name IS NULL`
const EMPTY = `SELECT number FROM logs WHERE name IS NULL AND is_empty ORDER BY number LIMIT ${STEP_LOGS}`
const END = "DELETE FROM logs WHERE number = ANY ($1::int[]) AND name IS NULL AND is_empty"

export class PostgresEventLog implements EventLog {
  readonly #journal: PostgresJournal
  readonly #reader: Reader

  constructor(journal: PostgresJournal, reader: Reader) {
    this.#journal = journal
    this.#reader = reader
  }

  async append(session: string, events: readonly NewEvent[], options: AppendOptions = {}): Promise<Appended> {
    let bytes = events.length * EVENT_OVERHEAD_BYTES
    for (const { at, line } of events) {
      if (!Number.isSafeInteger(at)) throw new TypeError(`An event's time must be a whole number: ${typeof at}`)
      bytes += line.length
    }
    // A synced write was promised to somebody, who can be told; an agent can't be asked to say something again.
    const refusable = options.synced === true && events.every((event) => event.from !== "agent")
    return this.#journal.append(session, events, { bytes, refusable })
  }

  async read(session: string, range: ReadRange): Promise<readonly StoredEvent[]> {
    const window = windowOf(session, range)
    if (window === undefined) return []
    return (await this.#reader.all(window.read.events, window.values)).map(toEvent)
  }

  async sizes(session: string, range: ReadRange): Promise<readonly LineSize[]> {
    const window = windowOf(session, range)
    if (window === undefined) return []
    const rows = await this.#reader.all(window.read.sizes, window.values)
    return rows.map(([seq, bytes]) => ({ seq: Number(seq), bytes: Number(bytes) }))
  }

  async find(session: string, key: string): Promise<StoredEvent | undefined> {
    const row = await this.#reader.get(FIND, [toStored(session), uuidArray([keyId(toStored(key))])])
    return row && toEvent(row)
  }

  async bounds(session: string): Promise<LogBounds> {
    const [first, last] = (await this.#reader.get(BOUNDS, [toStored(session)])) ?? []
    return { firstSeq: Number(first ?? 0), lastSeq: Number(last ?? 0) }
  }

  async purge(session: string): Promise<void> {
    const values = [toStored(session)]
    await this.#journal.write(
      { text: PURGE, values },
      { bytes: SMALL_BYTES, refusable: true, isAfterEvents: true, session },
    )
  }

  async purgeSome(): Promise<boolean> {
    const [number, deletedTo] = (await this.#reader.get(NEXT_PURGED, [])) ?? []
    if (number === undefined) return false
    const values = [Number(number), Number(deletedTo), STEP_EVENTS, STEP_BYTES]
    await this.#journal.write({ text: DELETE_SOME, values }, { bytes: SMALL_BYTES, refusable: true })
    return true
  }

  /** Purged logs whose events are deleted, and that the search index may still have; not all at once. */
  async emptyLogs(): Promise<readonly number[]> {
    return (await this.#reader.all(EMPTY, [])).map(([number]) => Number(number))
  }

  /** Nothing knows these any more. */
  async endLogs(numbers: readonly number[]): Promise<void> {
    await this.#journal.write(
      { text: END, values: [numbers.map(String)] },
      { bytes: SMALL_BYTES * numbers.length, refusable: true },
    )
  }
}

interface Window {
  readonly read: (typeof READS)[keyof typeof READS]
  readonly values: readonly SqlValue[]
}

function windowOf(session: string, { after, before, limit, maxBytes }: ReadRange): Window | undefined {
  const most = Math.min(limit, MAX_READ_EVENTS)
  if (!(most > 0)) return undefined
  const isTail = after === undefined && before !== undefined
  const bytes = Math.min(EVERYTHING, Math.floor(maxBytes ?? EVERYTHING))
  const values = [toStored(session), seqOf(after ?? 0), seqOf(before ?? LAST_SEQ), most, bytes]
  return { read: isTail ? READS.last : READS.first, values }
}

/** As a number of an event. */
function seqOf(seq: number): number {
  return Math.max(0, Math.min(LAST_SEQ, seq))
}

function toEvent([seq, at, origin, by, key, line]: SqlRow): StoredEvent {
  return {
    seq: Number(seq),
    at: Number(at),
    from: origin === "agent" || origin === "client" ? origin : "hub",
    ...(by === null ? {} : { by: fromStored(String(by)) }),
    ...(key === null ? {} : { key: fromStored(String(key)) }),
    line: fromStored(String(line)),
  }
}
