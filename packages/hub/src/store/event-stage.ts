import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { Database, SqlValue } from "./database.ts"
import { keySlot, placeOfKey, storedKey } from "./event-keys.ts"
import type { SessionHead, SessionHeads } from "./session-heads.ts"
import { sqliteCode } from "./store-failure.ts"
import { toStoredText } from "./stored-text.ts"
import type { JournalStage } from "./transaction.ts"

/** An append under way; filled in when the stage is flushed. */
export interface StagedAppend {
  readonly session: string
  readonly events: readonly NewEvent[]
  readonly stored: StoredEvent[]
  lastSeq: number
}

interface StagedEvent {
  readonly append: StagedAppend
  readonly head: SessionHead
  readonly event: NewEvent
}

/** One statement for many rows is twice as fast as one for each; rows beyond whole statements take the next smaller. */
const ROWS_PER_INSERT = [64, 8, 1] as const
const INSERTS = new Map<number, string>(ROWS_PER_INSERT.map((rows) => [rows, insertOf(rows)]))

function insertOf(rows: number): string {
  const values = Array.from({ length: rows }, () => "(?, ?, ?, ?, ?, ?, ?, ?)").join(", ")
  return `INSERT INTO events (session, seq, at, origin, by, key, key_slot, line) VALUES ${values}`
}

/**
 * Numbers the events of a tick and writes them. It goes ahead as if every key were new, since the index refuses the
 * statement if one is not: only then each is looked up.
 */
export class EventStage implements JournalStage {
  readonly #database: Database
  readonly #heads: SessionHeads
  readonly #publish: (append: StagedAppend) => void
  #staged: StagedAppend[] = []
  #flushed: StagedAppend[] = []

  constructor(database: Database, heads: SessionHeads, publish: (append: StagedAppend) => void) {
    this.#database = database
    this.#heads = heads
    this.#publish = publish
  }

  stage(session: string, events: readonly NewEvent[]): StagedAppend {
    const append: StagedAppend = { session, events, stored: [], lastSeq: 0 }
    this.#staged.push(append)
    return append
  }

  flush(): void {
    if (this.#staged.length === 0) return
    const appends = this.#staged.map((append) => ({ append, head: this.#heads.findOrAdd(append.session) }))
    const waiting = appends.flatMap(({ append, head }) =>
      append.events.map((event): StagedEvent => ({ append, head, event })),
    )
    let from = 0
    for (const rows of ROWS_PER_INSERT) {
      for (; waiting.length - from >= rows; from += rows) this.#insert(waiting.slice(from, from + rows))
    }
    for (const { append, head } of appends) {
      append.lastSeq = append.stored.at(-1)?.seq ?? head.lastSeq
      this.#flushed.push(append)
    }
    this.#staged = []
  }

  committed(): void {
    const flushed = this.#flushed
    this.#flushed = []
    for (const append of flushed) if (append.stored.length > 0) this.#publish(append)
  }

  discard(): void {
    this.#staged = []
    this.#heads.forgetAll()
  }

  rolledBack(): void {
    this.#flushed = []
    this.discard()
  }

  #insert(chunk: readonly StagedEvent[]): void {
    const values: SqlValue[] = []
    for (const { head, event } of chunk) {
      const slot = event.key === undefined ? null : keySlot(event.key)
      pushRow(values, { session: head.number, seq: ++head.lastSeq, slot }, event)
    }
    try {
      this.#database.run(INSERTS.get(chunk.length) ?? "", values)
    } catch (error) {
      if (sqliteCode(error) !== "SQLITE_CONSTRAINT_UNIQUE") throw error
      for (const head of new Set(chunk.map((item) => item.head))) this.#heads.reload(head)
      for (const item of chunk) this.#insertUnlessThere(item)
      return
    }
    const width = values.length / chunk.length
    for (const [index, { append, event }] of chunk.entries()) {
      append.stored.push({ ...event, seq: Number(values[index * width + 1]) })
    }
  }

  #insertUnlessThere({ append, head, event }: StagedEvent): void {
    let slot: number | null = null
    if (event.key !== undefined) {
      const place = placeOfKey(this.#database, head.number, event.key)
      if (place.seq !== undefined) return
      slot = place.slot
    }
    const values: SqlValue[] = []
    const seq = head.lastSeq + 1
    pushRow(values, { session: head.number, seq, slot }, event)
    this.#database.run(INSERTS.get(1) ?? "", values)
    head.lastSeq = seq
    append.stored.push({ ...event, seq })
  }
}

interface RowPlace {
  readonly session: number
  readonly seq: number
  readonly slot: number | null
}

function pushRow(values: SqlValue[], { session, seq, slot }: RowPlace, event: NewEvent): void {
  const key = event.key === undefined ? null : storedKey(event.key)
  values.push(session, seq, event.at, event.from, event.by ?? null, key, slot, toStoredText(event.line))
}
