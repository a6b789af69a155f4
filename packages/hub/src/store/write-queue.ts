/** A write that waits for its commit. */
export interface WriteEntry {
  readonly run: () => void
  readonly bytes: number
  readonly synced: boolean
  readonly refusable: boolean
  readonly session?: string | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** A backlog is written in pieces of about this size, about ten milliseconds each, so that the event loop is not held for all of it. */
const BATCH_BYTES = 512 * 1024

/** Entries that wait to be written, tick by tick, in their order. */
export class WriteQueue<Entry extends { readonly bytes: number } = WriteEntry> {
  /** The entries written in the tick that is under way. */
  #tick: Entry[] = []
  /** Earlier ticks that are not committed, oldest first: more than one only in trouble, or while commits are held. */
  #backlog: Entry[][] = []
  #bytes = 0

  /** Bytes added and not settled yet. */
  get bytes(): number {
    return this.#bytes
  }

  get hasBacklog(): boolean {
    return this.#backlog.length > 0
  }

  add(entry: Entry): void {
    this.#tick.push(entry)
    this.#bytes += entry.bytes
  }

  endTick(): void {
    if (this.#tick.length === 0) return
    this.#backlog.push(this.#tick)
    this.#tick = []
  }

  /** Whole ticks only: what was written in one tick is one transaction. */
  takeBatch(): Entry[] {
    const batch: Entry[] = []
    let bytes = 0
    let ticks = 0
    for (const tick of this.#backlog) {
      for (const entry of tick) {
        batch.push(entry)
        bytes += entry.bytes
      }
      ticks++
      if (bytes >= BATCH_BYTES) break
    }
    this.#backlog.splice(0, ticks)
    return batch
  }

  /** Puts a batch back before the others, and takes out of all of them those that may not wait. */
  putBack(batch: readonly Entry[], mayWait: (entry: Entry) => boolean): readonly Entry[] {
    const waiting = [[...batch], ...this.#backlog]
    this.#backlog = waiting.map((tick) => tick.filter(mayWait)).filter((tick) => tick.length > 0)
    return waiting.flatMap((tick) => tick.filter((entry) => !mayWait(entry)))
  }

  /** They are written or refused, and wait no longer. Returns what they held. */
  settle(entries: readonly Entry[]): number {
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
    this.#bytes -= bytes
    return bytes
  }
}
