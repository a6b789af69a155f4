import type { Database } from "./database.ts"
import type { Journal } from "./journal.ts"
import { fromStoredKey, keySlot, storedKey } from "./key-slot.ts"
import { KnownSlots } from "./slot-set.ts"
import { WaitingKeys } from "./waiting-keys.ts"

/** With so many they begin to move to the index. */
const MOVE_AT = 4096
/**
 * Keys are scattered all over the index. They wait on shelves, each for a part of it, and move a shelf at a time, so that
 * those of one shelf share its pages.
 */
const SHELVES = 32
const SLOTS_PER_SHELF = 2 ** 53 / SHELVES
const KEYS_PER_INSERT = [64, 16, 4, 1] as const
const KEYS_PER_LOOKUP = KEYS_PER_INSERT
/** A move that failed is not tried again at once: what it was to move is read back from the log first. */
const RETRY_MOVE_MS = 5_000
/** A slot that is none: fills up a lookup. */
const NO_SLOT = -1

const INSERTS = new Map<number, string>(KEYS_PER_INSERT.map((keys) => [keys, insertOf(keys)]))
const LOOKUPS = new Map<number, string>(KEYS_PER_LOOKUP.map((keys) => [keys, lookupOf(keys)]))

/** Again does no harm: after a crash some of them may be there already. */
function insertOf(keys: number): string {
  const values = Array.from({ length: keys }, () => "(?, ?, ?)").join(", ")
  return `INSERT OR IGNORE INTO event_keys (session, slot, seq) VALUES ${values}`
}

function lookupOf(keys: number): string {
  const slots = Array.from({ length: keys }, () => "?").join(", ")
  return `SELECT slot FROM event_keys WHERE session = ? AND slot IN (${slots})`
}

interface Move {
  shelves: readonly WaitingKeys[]
  /** The last event that was there when it began: when all are moved, keys up to it are in the index. */
  readonly upTo: number
}

/**
 * Which keys a session has, for its whole life. Those of the latest events are here in memory; the events themselves carry
 * them, so nothing is lost with the process, and the next one reads them back. The others are in the index, to which they
 * move in bulk, some with each transaction.
 */
export class EventKeys {
  readonly #database: Database
  readonly #journal: Journal
  /** Not loaded at first, and after a rollback: the log itself knows. */
  #isLoaded = false
  #latest = emptyShelves()
  #latestCount = 0
  #move: Move | undefined
  #moveAgainAt = 0
  /** Those of sessions that began with this process. */
  readonly #known = new KnownSlots()

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#journal = journal
  }

  /** It has no event yet: whatever keys it will have come by here. */
  begin(session: number): void {
    this.#known.begin(session)
  }

  /** Those of the slots, or more, that the session may have in the index. At most 64 are asked for at once. */
  indexed(session: number, slots: readonly number[]): { has(slot: number): boolean } | undefined {
    if (slots.length === 0) return undefined
    const known = this.#known.of(session)
    if (known !== undefined) return known
    const size = KEYS_PER_LOOKUP.findLast((keys) => keys >= slots.length) ?? KEYS_PER_LOOKUP[0]
    const values: number[] = [session, ...slots]
    while (values.length <= size) values.push(NO_SLOT)
    const lookup = LOOKUPS.get(size) ?? ""
    // Hardly ever there: asking for one is cheaper than asking for all.
    if (this.#database.get(lookup, values) === undefined) return undefined
    return new Set(this.#database.all(lookup, values).map(([slot]) => Number(slot)))
  }

  /** Whether the slot is among the latest, which are not in the index. */
  isWaiting(session: number, slot: number): boolean {
    if (!this.#isLoaded) this.#load()
    const shelf = shelfOf(slot)
    return this.#latest[shelf]?.has(session, slot) === true || this.#move?.shelves[shelf]?.has(session, slot) === true
  }

  /** The event that has the key. Slots are only hashes: this looks at the keys themselves. */
  seqOf(session: number, key: string): number | undefined {
    if (!this.#isLoaded) this.#load()
    const slot = keySlot(key)
    const stored = storedKey(key)
    const rows = this.#database.all("SELECT seq FROM event_keys WHERE session = ? AND slot = ?", [session, slot])
    const candidates = [
      ...(this.#latest[shelfOf(slot)]?.seqsOf(session, slot) ?? []),
      ...(this.#move?.shelves[shelfOf(slot)]?.seqsOf(session, slot) ?? []),
      ...rows.map(([seq]) => Number(seq)),
    ]
    return candidates.find((seq) => {
      const row = this.#database.get("SELECT key FROM events WHERE session = ? AND seq = ?", [session, seq])
      return row?.[0] === stored
    })
  }

  add(session: number, slot: number, seq: number): void {
    if (!this.#isLoaded) this.#load()
    this.#wait(session, slot, seq)
    this.#known.add(session, slot)
  }

  /** Everything added is durable. */
  committed(): void {
    if (this.#move !== undefined || this.#latestCount < MOVE_AT) return
    if (performance.now() >= this.#moveAgainAt) void this.#moveAll()
  }

  /** Keys added since the last commit may not be there. */
  forget(): void {
    this.#isLoaded = false
    this.#move = undefined
    this.#latest = emptyShelves()
    this.#latestCount = 0
    this.#known.clear()
  }

  /** The session was purged: whoever deletes its keys from the index deletes all there will ever be. */
  drop(session: number): void {
    this.#known.forget(session)
    const without = (shelves: readonly WaitingKeys[]) => shelves.map((keys) => keys.without(session))
    this.#latest = without(this.#latest)
    this.#latestCount = this.#latest.reduce((sum, { size }) => sum + size, 0)
    if (this.#move !== undefined) this.#move.shelves = without(this.#move.shelves)
  }

  #wait(session: number, slot: number, seq: number): void {
    this.#latest[shelfOf(slot)]?.add(session, slot, seq)
    this.#latestCount++
  }

  #load(): void {
    this.#isLoaded = true
    const keys = this.#database.all(
      `SELECT session, seq, key FROM events
       WHERE id > (SELECT value FROM store_marks WHERE name = 'keyed-to') AND key IS NOT NULL
         AND session NOT IN (SELECT number FROM purged_logs)`,
      [],
    )
    for (const [session, seq, key] of keys) {
      this.#wait(Number(session), keySlot(fromStoredKey(String(key))), Number(seq))
    }
  }

  async #moveAll(): Promise<void> {
    const move = this.#beginMove()
    try {
      for (let shelf = 0; shelf < SHELVES && this.#move === move; ) {
        // When more comes than one shelf takes away, it takes several, so that those that wait do not become ever more.
        const shelves = Math.ceil(((this.#latestCount + 1) / MOVE_AT) * SHELVES) + 1
        const end = Math.min(SHELVES, Math.max(shelf + 1, shelves))
        await this.#journal.write({ run: () => this.#moveShelves(move, shelf, end), refusable: true })
        shelf = end
      }
    } catch {
      // The disk is in trouble, which the journal has reported, or the index is damaged: they are read back from the log.
      this.forget()
      this.#moveAgainAt = performance.now() + RETRY_MOVE_MS
    }
    if (this.#move === move) this.#move = undefined
  }

  #beginMove(): Move {
    const upTo = Number(this.#database.get("SELECT max(id) FROM events", [])?.[0] ?? 0)
    this.#move = { shelves: this.#latest, upTo }
    this.#latest = emptyShelves()
    this.#latestCount = 0
    return this.#move
  }

  #moveShelves(move: Move, from: number, to: number): void {
    // Forgotten in the meantime: they were read back, and will be moved with others.
    if (this.#move !== move) return
    for (const keys of move.shelves.slice(from, to)) this.#index(keys)
    if (to < SHELVES) return
    this.#database.run("UPDATE store_marks SET value = ? WHERE name = 'keyed-to'", [move.upTo])
  }

  #index(keys: WaitingKeys): void {
    let from = 0
    for (const count of KEYS_PER_INSERT) {
      for (; keys.size - from >= count; from += count) {
        this.#database.run(INSERTS.get(count) ?? "", keys.rows(from, from + count))
      }
    }
  }
}

function shelfOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_SHELF)
}

function emptyShelves(): readonly WaitingKeys[] {
  return Array.from({ length: SHELVES }, () => new WaitingKeys())
}
