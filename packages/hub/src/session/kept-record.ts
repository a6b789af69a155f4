import type { KeptSession } from "../model/session-record.ts"

export interface KeptRecordOptions {
  readonly kept: KeptSession
  /** As it is to be kept and told: with the state of this moment. */
  readonly complete: (kept: KeptSession) => KeptSession
  readonly save: (kept: KeptSession, how: { isAtRest: boolean }) => Promise<void>
  readonly tell: () => void
}

/** What follows from events is in the log: it may be saved and told a little later. */
const FOLD_DELAY_MS = 100

/** A session's record in memory, saved and told not for each of its changes but soon after them. */
export class KeptRecord {
  readonly #options: KeptRecordOptions
  #kept: KeptSession
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  /** Kept as one that nobody needs, and not changed since. */
  #isAtRest = false

  constructor(options: KeptRecordOptions) {
    this.#options = options
    this.#kept = options.kept
  }

  get value(): KeptSession {
    return this.#kept
  }

  /** Nothing but the record knows this: saved and told with this tick's writes. */
  change(kept: KeptSession): void {
    this.#kept = kept
    this.#isAtRest = false
    if (this.#immediate !== undefined) return
    this.#immediate = setImmediate(() => this.#flush())
  }

  /** This could be worked out again from the events. */
  fold(kept: KeptSession): void {
    this.#kept = kept
    this.#isAtRest = false
    if (this.#immediate !== undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#flush(), FOLD_DELAY_MS)
  }

  /** Saves and tells what waits. */
  settle(): void {
    if (this.#immediate !== undefined || this.#timer !== undefined) this.#flush()
  }

  /** It came from the store as one that nobody needs. */
  cameFromRest(): void {
    this.#isAtRest = true
  }

  /** Keeps it as one that nobody needs. False: it changed meanwhile. */
  async rest(): Promise<boolean> {
    this.settle()
    if (!this.#isAtRest) {
      this.#isAtRest = true
      try {
        await this.#options.save(this.#options.complete(this.#kept), { isAtRest: true })
      } catch (error) {
        this.#isAtRest = false
        throw error
      }
    }
    return this.#isAtRest
  }

  #flush(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    this.#kept = this.#options.complete(this.#kept)
    void this.#options.save(this.#kept, { isAtRest: false })
    this.#options.tell()
  }
}
