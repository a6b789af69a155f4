import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { Database, SqlValue } from "./database.ts"
import type { EventKeys } from "./event-keys.ts"
import { keySlot, storedKey } from "./key-slot.ts"
import type { SessionHead, SessionHeads } from "./session-heads.ts"
import { toStoredText } from "./stored-text.ts"
import type { JournalStage } from "./transaction.ts"

/** An append under way; filled in when the stage is flushed. */
export interface StagedAppend {
  readonly session: string
  readonly events: readonly NewEvent[]
  readonly stored: StoredEvent[]
  lastSeq: number
}

/** One statement for many rows is twice as fast as one for each; rows beyond whole statements take the next smaller. */
const ROWS_PER_INSERT = [64, 16, 4, 1] as const
const INSERTS = new Map<number, string>(ROWS_PER_INSERT.map((rows) => [rows, insertOf(rows)]))
/** Events whose keys are looked up at once. */
const CHUNK_EVENTS = 64
const WIDTH = 7

function insertOf(rows: number): string {
  const values = Array.from({ length: rows }, () => "(?, ?, ?, ?, ?, ?, ?)").join(", ")
  return `INSERT INTO events (session, seq, at, origin, by, key, line) VALUES ${values}`
}

/**
 * Numbers the events of a tick and writes them. Should another process have taken a number, the statement fails, the
 * transaction is rolled back and everything that was known here is read anew for the second try.
 */
export class EventStage implements JournalStage {
  readonly #database: Database
  readonly #heads: SessionHeads
  readonly #keys: EventKeys
  readonly #publish: (append: StagedAppend) => void
  #staged: StagedAppend[] = []
  #flushed: StagedAppend[] = []
  /** Rows that are numbered and not written. */
  #rows: SqlValue[] = []

  constructor(parts: {
    readonly database: Database
    readonly heads: SessionHeads
    readonly keys: EventKeys
    readonly publish: (append: StagedAppend) => void
  }) {
    this.#database = parts.database
    this.#heads = parts.heads
    this.#keys = parts.keys
    this.#publish = parts.publish
  }

  stage(session: string, events: readonly NewEvent[]): StagedAppend {
    const append: StagedAppend = { session, events, stored: [], lastSeq: 0 }
    this.#staged.push(append)
    return append
  }

  flush(): void {
    if (this.#staged.length === 0) return
    for (const append of this.#staged) {
      const head = this.#heads.findOrAdd(append.session)
      if (head.lastSeq === 0) this.#keys.begin(head.number)
      for (let from = 0; from < append.events.length; from += CHUNK_EVENTS) this.#number(append, head, from)
      append.lastSeq = append.stored.at(-1)?.seq ?? head.lastSeq
    }
    this.#writeRows()
    for (const append of this.#staged) this.#flushed.push(append)
    this.#staged = []
  }

  committed(): void {
    const flushed = this.#flushed
    if (flushed.length === 0) return
    this.#flushed = []
    this.#keys.committed()
    for (const append of flushed) if (append.stored.length > 0) this.#publish(append)
  }

  discard(): void {
    this.#staged = []
    this.#rows = []
    this.#heads.forgetAll()
    this.#keys.forget()
  }

  rolledBack(): void {
    this.#flushed = []
    this.discard()
  }

  #number(append: StagedAppend, head: SessionHead, from: number): void {
    const to = Math.min(append.events.length, from + CHUNK_EVENTS)
    const slots: number[] = []
    for (let index = from; index < to; index++) {
      const key = append.events[index]?.key
      if (key !== undefined) slots.push(keySlot(key))
    }
    const indexed = this.#keys.indexed(head.number, slots)
    let keyed = 0
    for (let index = from; index < to; index++) {
      const event = append.events[index]
      if (event === undefined) break
      if (event.key !== undefined) {
        const slot = slots[keyed++] ?? 0
        const mayBeThere = indexed?.has(slot) === true || this.#keys.isWaiting(head.number, slot)
        if (mayBeThere && this.#isThere(head, event.key)) continue
        this.#keys.add(head.number, slot, head.lastSeq + 1)
      }
      this.#add(append, head, event)
    }
  }

  #isThere(head: SessionHead, key: string): boolean {
    // It may be one of those.
    this.#writeRows()
    return this.#keys.seqOf(head.number, key) !== undefined
  }

  #add(append: StagedAppend, head: SessionHead, event: NewEvent): void {
    const seq = ++head.lastSeq
    const key = event.key === undefined ? null : storedKey(event.key)
    this.#rows.push(head.number, seq, event.at, event.from, event.by ?? null, key, toStoredText(event.line))
    append.stored.push({ ...event, seq })
    if (this.#rows.length === ROWS_PER_INSERT[0] * WIDTH) this.#writeRows()
  }

  #writeRows(): void {
    const rows = this.#rows
    if (rows.length === 0) return
    this.#rows = []
    let from = 0
    for (const count of ROWS_PER_INSERT) {
      const width = count * WIDTH
      for (; rows.length - from >= width; from += width) {
        this.#database.run(INSERTS.get(count) ?? "", rows.length === width ? rows : rows.slice(from, from + width))
      }
    }
  }
}
