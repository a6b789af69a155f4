import { HubError } from "../errors.ts"
import type { NewEvent, StoredEvent } from "../model/event.ts"
import { ColdLines, DamagedBlock, LINE_BYTES } from "./cold/cold-lines.js"
import type { Database, SqlRow, SqlValue } from "./database.ts"
import { EventKeys } from "./event-keys.ts"
import {
  type Appended,
  type AppendOptions,
  type EventLog,
  type LineSize,
  type LogBounds,
  MAX_READ_EVENTS,
  type ReadRange,
} from "./event-log.ts"
import { EventStage } from "./event-stage.ts"
import type { Journal } from "./journal.ts"
import { fromStoredKey } from "./key-slot.ts"
import { PurgedLogs } from "./purged-logs.ts"
import { SessionHeads } from "./session-heads.ts"
import { fromStoredText } from "./stored-text.ts"

/** An event's bytes beside its line while it waits. */
const EVENT_OVERHEAD_BYTES = 200

const WINDOW = "FROM events WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq"
const COLUMNS = "seq, at, origin, by, key, line"
const READS = {
  first: { events: `SELECT ${COLUMNS} ${WINDOW} LIMIT ?`, sizes: `SELECT seq, ${LINE_BYTES} ${WINDOW} LIMIT ?` },
  last: {
    events: `SELECT ${COLUMNS} ${WINDOW} DESC LIMIT ?`,
    sizes: `SELECT seq, ${LINE_BYTES} ${WINDOW} DESC LIMIT ?`,
  },
} as const

const NO_LINES: ReadonlyMap<number, string> = new Map()

interface Window {
  readonly read: (typeof READS)[keyof typeof READS]
  readonly values: readonly SqlValue[]
  readonly limit: number
}

export class SqliteEventLog implements EventLog {
  readonly #database: Database
  readonly #journal: Journal
  readonly #heads: SessionHeads
  readonly #keys: EventKeys
  readonly #stage: EventStage
  /** Public for whoever works through them: the search index has to forget them too. */
  readonly purged: PurgedLogs
  readonly #cold: ColdLines

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#journal = journal
    this.#heads = new SessionHeads(database)
    this.#keys = new EventKeys(database, journal)
    this.#stage = new EventStage({ database, heads: this.#heads, keys: this.#keys })
    this.purged = new PurgedLogs({ database, stage: this.#stage, heads: this.#heads, keys: this.#keys })
    this.#cold = new ColdLines((sql, values) => database.get(sql, values) ?? [])
    journal.addStage(this.#stage)
  }

  async append(session: string, events: readonly NewEvent[], options: AppendOptions = {}): Promise<Appended> {
    const synced = options.synced === true
    let bytes = events.length * EVENT_OVERHEAD_BYTES
    for (const event of events) bytes += event.line.length
    const run = () => this.#stage.stage(session, events)
    // A synced write was promised to somebody, who can be told; an agent can't be asked to say something again.
    const refusable = synced && events.every((event) => event.from !== "agent")
    const { stored, lastSeq } = await this.#journal.write({ run, bytes, synced, refusable, session })
    return { stored, lastSeq }
  }

  async read(session: string, range: ReadRange): Promise<readonly StoredEvent[]> {
    const window = this.#windowOf(session, range)
    if (window === undefined) return []
    const { read, values, limit } = window
    const count = range.maxBytes === undefined ? limit : this.#sizesWithin(window, range.maxBytes).length
    const rows = this.#database.all(read.events, [...values, count])
    const cold = this.#coldLines(session, rows)
    const events = rows.map((row) => toEvent(row, cold))
    return read === READS.last ? events.toReversed() : events
  }

  async sizes(session: string, range: ReadRange): Promise<readonly LineSize[]> {
    const window = this.#windowOf(session, range)
    if (window === undefined) return []
    const sizes = this.#sizesWithin(window, range.maxBytes ?? Number.POSITIVE_INFINITY)
    return window.read === READS.last ? sizes.toReversed() : sizes
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

  purge(session: string): Promise<void> {
    return this.#journal.write({ run: () => this.purged.begin(session), synced: true, refusable: true, session })
  }

  async purgeSome(): Promise<boolean> {
    const number = this.purged.next()
    if (number === undefined) return false
    await this.#journal.write({ run: () => this.purged.deleteSome(number), refusable: true })
    return true
  }

  #windowOf(session: string, range: ReadRange): Window | undefined {
    const head = this.#heads.find(session)
    const limit = Math.min(range.limit, MAX_READ_EVENTS)
    if (head === undefined || !(limit > 0)) return undefined
    const isTail = range.after === undefined && range.before !== undefined
    const values = [head.number, range.after ?? 0, range.before ?? Number.MAX_SAFE_INTEGER]
    return { read: isTail ? READS.last : READS.first, values, limit }
  }

  /** The lines that are in blocks, by their numbers. */
  #coldLines(session: string, rows: readonly SqlRow[]): ReadonlyMap<number, string> {
    const seqs = rows.flatMap(([seq, , , , , line]) => (typeof line === "number" ? [Number(seq)] : []))
    const head = seqs.length === 0 ? undefined : this.#heads.find(session)
    if (head === undefined) return NO_LINES
    try {
      return this.#cold.lines(head.number, seqs)
    } catch (cause) {
      if (!(cause instanceof DamagedBlock)) throw cause
      throw new HubError(
        "store/failed",
        `Session ${session} cannot be read here: ${cause.message} is damaged. Other events are not affected. Restore a backup to get these back.`,
        { cause },
      )
    }
  }

  #sizesWithin({ read, values, limit }: Window, maxBytes: number): LineSize[] {
    let sum = 0
    const sizes: LineSize[] = []
    for (const [seq, size] of this.#database.all(read.sizes, [...values, limit])) {
      const bytes = Number(size)
      sum += bytes
      if (sum > maxBytes && sizes.length > 0) break
      sizes.push({ seq: Number(seq), bytes })
    }
    return sizes
  }
}

function toEvent([seq, at, origin, by, key, line]: SqlRow, cold: ReadonlyMap<number, string>): StoredEvent {
  return {
    seq: Number(seq),
    at: Number(at),
    from: origin === "agent" || origin === "client" ? origin : "hub",
    ...(by === null ? {} : { by: String(by) }),
    ...(key === null ? {} : { key: fromStoredKey(String(key)) }),
    line: cold.get(Number(seq)) ?? fromStoredText(line),
  }
}
