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
/** Time, key and line: what each row has of its own. */
const WIDTH = 3
const INSERTS = new Map<number, string>(ROWS_PER_INSERT.map((rows) => [rows, insertOf(rows)]))
/** Events whose keys are looked up at once. */
const CHUNK_EVENTS = 64

/** Values that all rows of a statement share are given once: to hand over a value costs about as much as to write it. */
function insertOf(rows: number): string {
  const values = Array.from({ length: rows }, (_, row) => {
    const own = 5 + row * WIDTH
    return `(?1, ?2 + ${row + 1}, ?${own}, ?3, ?4, ?${own + 1}, ?${own + 2})`
  })
  return `INSERT INTO events (session, seq, at, origin, by, key, line) VALUES ${values.join(", ")}`
}

/** Rows that are numbered and not written: one after the other in one session, from one side. */
interface RowRun {
  readonly session: number
  /** The last number before them. */
  readonly after: number
  readonly from: NewEvent["from"]
  readonly by: string | undefined
  readonly values: SqlValue[]
}

/**
 * Numbers the events of a tick and writes them. Should another process have taken a number, the statement fails, the
 * transaction is rolled back and everything that was known here is read anew for the second try.
 */
export class EventStage implements JournalStage {
  readonly #database: Database
  readonly #heads: SessionHeads
  readonly #keys: EventKeys
  #staged: StagedAppend[] = []
  #hasFlushed = false
  #run: RowRun | undefined

  constructor(parts: {
    readonly database: Database
    readonly heads: SessionHeads
    readonly keys: EventKeys
  }) {
    this.#database = parts.database
    this.#heads = parts.heads
    this.#keys = parts.keys
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
    this.#hasFlushed = true
    this.#staged = []
  }

  committed(): void {
    if (!this.#hasFlushed) return
    this.#hasFlushed = false
    this.#keys.committed()
  }

  discard(): void {
    this.#staged = []
    this.#run = undefined
    this.#heads.forgetAll()
    this.#keys.forget()
  }

  rolledBack(): void {
    this.#hasFlushed = false
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
    const run = this.#runFor(head, event)
    const seq = ++head.lastSeq
    const key = event.key === undefined ? null : storedKey(event.key)
    run.values.push(event.at, key, toStoredText(event.line))
    append.stored.push({ ...event, seq })
    if (run.values.length === ROWS_PER_INSERT[0] * WIDTH) this.#writeRows()
  }

  #runFor(head: SessionHead, event: NewEvent): RowRun {
    const run = this.#run
    if (run !== undefined && run.session === head.number && run.from === event.from && run.by === event.by) return run
    this.#writeRows()
    this.#run = { session: head.number, after: head.lastSeq, from: event.from, by: event.by, values: [] }
    return this.#run
  }

  #writeRows(): void {
    const run = this.#run
    if (run === undefined) return
    this.#run = undefined
    const { session, after, from, by, values } = run
    let written = 0
    for (const count of ROWS_PER_INSERT) {
      for (; values.length / WIDTH - written >= count; written += count) {
        const own = values.slice(written * WIDTH, (written + count) * WIDTH)
        this.#database.run(INSERTS.get(count) ?? "", [session, after + written, from, by ?? null, ...own])
      }
    }
  }
}
