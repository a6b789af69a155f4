import type { Database } from "./database.ts"

/** The number that stands for a session in the table of events, and how far its events go. */
export interface SessionHead {
  readonly number: number
  lastSeq: number
}

const MAX_HEADS = 10_000

/** The end of each session's log, looked up once and then remembered. */
export class SessionHeads {
  readonly #database: Database
  readonly #heads = new Map<string, SessionHead>()

  constructor(database: Database) {
    this.#database = database
  }

  find(session: string): SessionHead | undefined {
    const known = this.#heads.get(session)
    if (known !== undefined) return known
    const row = this.#database.get("SELECT id FROM log_sessions WHERE name = ?", [session])
    return row === undefined ? undefined : this.#remember(session, Number(row[0]))
  }

  /** Inside a transaction: the session's name is written if it is new. */
  findOrAdd(session: string): SessionHead {
    const found = this.find(session)
    if (found !== undefined) return found
    const row = this.#database.get("INSERT INTO log_sessions (name) VALUES (?) RETURNING id", [session])
    return this.#remember(session, Number(row?.[0]))
  }

  forget(session: string): void {
    this.#heads.delete(session)
  }

  /** Heads learned in a transaction that was rolled back do not hold. */
  forgetAll(): void {
    this.#heads.clear()
  }

  #remember(session: string, number: number): SessionHead {
    const oldest = this.#heads.size >= MAX_HEADS ? this.#heads.keys().next() : undefined
    if (oldest?.done === false) this.#heads.delete(oldest.value)
    const head = { number, lastSeq: this.#lastSeq(number) }
    this.#heads.set(session, head)
    return head
  }

  #lastSeq(number: number): number {
    return Number(this.#database.get("SELECT max(seq) FROM events WHERE session = ?", [number])?.[0] ?? 0)
  }
}
