import type { Database } from "../database.ts"
import type { Journal } from "../journal.ts"
import { fromStoredText } from "../stored-text.ts"
import { SEARCH_FIELDS, type SearchField, searchableText } from "./searchable-text.ts"

/** A row of the index is a field of an event: its number says which. */
const FIELDS_PER_EVENT = 8

/** One step stops after the first event that takes it past these; the event loop is free in between. */
const STEP_MS = 3
const STEP_BYTES = 64 * 1024
const STEP_EVENTS = 200

function indexRow(event: number, field: SearchField): number {
  return event * FIELDS_PER_EVENT + SEARCH_FIELDS.indexOf(field)
}

export function placeOfRow(row: number): { readonly event: number; readonly field: SearchField } {
  const field = SEARCH_FIELDS[row % FIELDS_PER_EVENT] ?? "text"
  return { event: Math.floor(row / FIELDS_PER_EVENT), field }
}

/** The word that every row of a session carries, so that a search in one session looks at no other. */
export function sessionWord(session: number): string {
  return `s${session}`
}

type IndexerState = "idle" | "working" | "closed"

/**
 * Fills the full-text index behind the log, a small step at a time, each in the journal with whatever else is being
 * written. How far it came is kept in the same transaction, so it goes on where it was after any end of the process.
 */
export class TextIndexer {
  readonly #database: Database
  readonly #journal: Journal
  #state: IndexerState = "idle"
  #indexedTo: number
  #waiters: (() => void)[] = []

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#journal = journal
    this.#indexedTo = Number(database.get("SELECT value FROM store_marks WHERE name = 'indexed-to'", [])?.[0] ?? 0)
  }

  /** The number of the last event that can be found; events are numbered across all sessions in the order of their commits. */
  get indexedTo(): number {
    return this.#indexedTo
  }

  /** There may be something new. Costs nothing while it works. */
  wake(): void {
    if (this.#state !== "idle") return
    this.#state = "working"
    void this.#work()
  }

  /** Resolves when everything that was committed can be found, or when the indexer cannot go on for now. */
  caughtUp(): Promise<void> {
    if (this.#state === "closed") return Promise.resolve()
    const done = new Promise<void>((resolve) => {
      this.#waiters.push(resolve)
    })
    this.wake()
    return done
  }

  close(): void {
    this.#rest("closed")
  }

  async #work(): Promise<void> {
    try {
      while (this.#state === "working" && this.#hasMore()) await this.#step()
    } catch {
      // The disk is in trouble, which the journal has reported. The next commit wakes us again.
    }
    if (this.#state === "working") this.#rest("idle")
  }

  #rest(state: IndexerState): void {
    this.#state = state
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  #hasMore(): boolean {
    return this.#database.get("SELECT 1 FROM events WHERE id > ? LIMIT 1", [this.#indexedTo]) !== undefined
  }

  async #step(): Promise<void> {
    // An index can be made again, so it gives way: nothing of it waits in the journal while the disk is in trouble.
    const reached = await this.#journal.write({ refusable: true, run: () => this.#indexSome(this.#indexedTo) })
    this.#indexedTo = reached
    // The journal would take the next step in the same turn as the writes that came in meanwhile; let them go first.
    await new Promise((resolve) => setImmediate(resolve))
  }

  #indexSome(after: number): number {
    const startedAt = performance.now()
    let reached = after
    let bytes = 0
    for (let count = 0; count < STEP_EVENTS; count++) {
      const row = this.#database.get("SELECT id, session, line FROM events WHERE id > ? ORDER BY id LIMIT 1", [reached])
      if (row === undefined) break
      reached = Number(row[0])
      const line = fromStoredText(row[2])
      this.#add(reached, Number(row[1]), line)
      bytes += line.length
      if (bytes > STEP_BYTES || performance.now() - startedAt > STEP_MS) break
    }
    this.#database.run("UPDATE store_marks SET value = ? WHERE name = 'indexed-to'", [reached])
    return reached
  }

  #add(event: number, session: number, line: string): void {
    const texts = searchableText(line)
    for (const field of SEARCH_FIELDS) {
      const text = texts[field]
      if (text === undefined) continue
      const values = [indexRow(event, field), sessionWord(session), text.replaceAll("\0", " ")]
      this.#database.run("INSERT INTO event_text (rowid, session, body) VALUES (?, ?, ?)", values)
    }
  }
}
