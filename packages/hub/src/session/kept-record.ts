import type { KeptSession } from "../model/session-record.ts"

export interface KeptRecordOptions {
  readonly kept: KeptSession
  /** As it is to be kept and told: with the state of this moment. */
  readonly complete: (kept: KeptSession) => KeptSession
  readonly save: (kept: KeptSession) => void
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
    if (this.#immediate !== undefined) return
    this.#immediate = setImmediate(() => this.#flush())
  }

  /** This could be worked out again from the events. */
  fold(kept: KeptSession): void {
    this.#kept = kept
    if (this.#immediate !== undefined || this.#timer !== undefined) return
    this.#timer = setTimeout(() => this.#flush(), FOLD_DELAY_MS)
  }

  /** Saves and tells what waits. */
  settle(): void {
    if (this.#immediate !== undefined || this.#timer !== undefined) this.#flush()
  }

  #flush(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    this.#kept = this.#options.complete(this.#kept)
    this.#options.save(this.#kept)
    this.#options.tell()
  }
}
