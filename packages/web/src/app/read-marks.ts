import { createValueStore, type ValueStore } from "./value-store.ts"

type Marks = ReadonlyMap<string, number>
type Tell = (session: string, seq: number) => Promise<unknown>

/** A session that is read while its agent works is told about no more often than this. */
const TELL_MS = 2000
/** Marks made while the hub was away: those of the latest sessions are told when it is back. */
const MAX_UNTOLD = 200

/** How far this person has read each session: the hub keeps it, for all of their browsers. A mark only moves forward. */
export class ReadMarks {
  readonly marks: ValueStore<Marks> = createValueStore<Marks>(new Map())
  readonly #tell: Tell
  readonly #untold = new Map<string, number>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isTelling = false

  constructor(tell: Tell) {
    this.#tell = tell
  }

  /** The hub's word, about what was read here or elsewhere. */
  take(told: Readonly<Record<string, number>>): void {
    const known = this.marks.get()
    const newer = Object.entries(told).filter(([session, seq]) => seq > (known.get(session) ?? 0))
    if (newer.length > 0) this.marks.set(new Map([...known, ...newer]))
  }

  /** Read here, up to this event: shown at once, told to the hub soon. */
  mark(session: string, seq: number): void {
    if ((this.marks.get().get(session) ?? 0) >= seq) return
    this.take({ [session]: seq })
    // The one touched last is last: the oldest are let go first.
    this.#untold.delete(session)
    this.#untold.set(session, seq)
    for (const id of this.#untold.keys()) if (this.#untold.size > MAX_UNTOLD) this.#untold.delete(id)
    this.#tellSoon()
  }

  /** Tells what waits, one at a time. What the hub could not be told waits for the next mark, or for its return. */
  async tellNow(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isTelling) return
    this.#isTelling = true
    // Marks made meanwhile wait for the next time.
    const waiting = [...this.#untold]
    try {
      for (const [session, seq] of waiting) {
        // Read on since, or forgotten with the person who read it.
        if (this.#untold.get(session) !== seq) continue
        await this.#tell(session, seq)
        if (this.#untold.get(session) === seq) this.#untold.delete(session)
      }
      if (this.#untold.size > 0) this.#tellSoon()
    } catch {
      // The connection's own trouble is told where the connection is.
    } finally {
      this.#isTelling = false
    }
  }

  #tellSoon(): void {
    this.#timer ??= setTimeout(() => void this.tellNow(), TELL_MS)
  }

  /** Another person may sign in next. */
  forget(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#untold.clear()
    this.marks.set(new Map())
  }
}
