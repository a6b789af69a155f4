import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { Database, SqlRow, SqlValue } from "./database.ts"
import { EventKeys } from "./event-keys.ts"
import {
  type Appended,
  type AppendOptions,
  type EventLog,
  type LogBounds,
  MAX_READ_EVENTS,
  type ReadRange,
} from "./event-log.ts"
import { EventStage } from "./event-stage.ts"
import type { Journal } from "./journal.ts"
import { fromStoredKey } from "./key-slot.ts"
import { LiveTails } from "./live-tails.ts"
import { SessionHeads } from "./session-heads.ts"
import { fromStoredText } from "./stored-text.ts"

/** What an event takes beside its line while it waits. */
const EVENT_OVERHEAD_BYTES = 200

const WINDOW = "FROM events WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq"
const COLUMNS = "seq, at, origin, by, key, line"
const READS = {
  first: { events: `SELECT ${COLUMNS} ${WINDOW} LIMIT ?`, sizes: `SELECT octet_length(line) ${WINDOW} LIMIT ?` },
  last: {
    events: `SELECT ${COLUMNS} ${WINDOW} DESC LIMIT ?`,
    sizes: `SELECT octet_length(line) ${WINDOW} DESC LIMIT ?`,
  },
} as const

export class SqliteEventLog implements EventLog {
  readonly #database: Database
  readonly #journal: Journal
  readonly #heads: SessionHeads
  readonly #keys: EventKeys
  readonly #stage: EventStage
  readonly #tails: LiveTails

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#journal = journal
    this.#heads = new SessionHeads(database)
    this.#tails = new LiveTails((session, range) => this.read(session, range))
    this.#keys = new EventKeys(database, journal)
    this.#stage = new EventStage({
      database,
      heads: this.#heads,
      keys: this.#keys,
      publish: ({ session, stored }) => this.#tails.publish(session, stored),
    })
    journal.addStage(this.#stage)
  }

  async append(session: string, events: readonly NewEvent[], options: AppendOptions = {}): Promise<Appended> {
    const synced = options.synced === true
    let bytes = events.length * EVENT_OVERHEAD_BYTES
    for (const event of events) bytes += event.line.length
    const run = () => this.#stage.stage(session, events)
    // What must be synced was promised to somebody, who can be told; what an agent says cannot be asked for again.
    const refusable = synced && events.every((event) => event.from !== "agent")
    const { stored, lastSeq } = await this.#journal.write({ run, bytes, synced, refusable })
    return { stored, lastSeq }
  }

  async read(session: string, range: ReadRange): Promise<readonly StoredEvent[]> {
    const head = this.#heads.find(session)
    const limit = Math.min(range.limit, MAX_READ_EVENTS)
    if (head === undefined || !(limit > 0)) return []
    const isTail = range.after === undefined && range.before !== undefined
    const read = isTail ? READS.last : READS.first
    const window = [head.number, range.after ?? 0, range.before ?? Number.MAX_SAFE_INTEGER]
    const count =
      range.maxBytes === undefined ? limit : this.#countWithin(read.sizes, [...window, limit], range.maxBytes)
    const events = this.#database.all(read.events, [...window, count]).map(toEvent)
    return isTail ? events.toReversed() : events
  }

  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<StoredEvent> {
    return this.#tails.follow(session, after, signal)
  }

  async find(session: string, key: string): Promise<StoredEvent | undefined> {
    const head = this.#heads.find(session)
    const seq = head === undefined ? undefined : this.#keys.seqOf(head.number, key)
    if (seq === undefined) return undefined
    return (await this.read(session, { after: seq - 1, limit: 1 }))[0]
  }

  async bounds(session: string): Promise<LogBounds> {
    const head = this.#heads.find(session)
    if (head === undefined) return { firstSeq: 0, lastSeq: 0 }
    const row = this.#database.get("SELECT min(seq) FROM events WHERE session = ?", [head.number])
    return { firstSeq: Number(row?.[0] ?? 0), lastSeq: head.lastSeq }
  }

  /** Lengths are in the rows' headers, so long lines are not loaded to be counted. */
  #countWithin(sql: string, values: readonly SqlValue[], maxBytes: number): number {
    let bytes = 0
    let count = 0
    for (const [size] of this.#database.all(sql, values)) {
      bytes += Number(size)
      if (bytes > maxBytes && count > 0) break
      count++
    }
    return count
  }
}

function toEvent([seq, at, origin, by, key, line]: SqlRow): StoredEvent {
  return {
    seq: Number(seq),
    at: Number(at),
    from: origin === "agent" || origin === "client" ? origin : "hub",
    ...(by === null ? {} : { by: String(by) }),
    ...(key === null ? {} : { key: fromStoredKey(String(key)) }),
    line: fromStoredText(line),
  }
}
