/**
 * Lines that arrived and were not read yet, as an async iterable for one reader. Bounded by its owner: `push` tells when
 * the queue is full, and the owner stops reading from its peer until `onRoom` is called.
 */
export interface LineQueueOptions {
  /** Past this many characters waiting, the queue says it is full. */
  readonly highWaterChars?: number
  /** The reader has caught up after the queue was full: read on. */
  readonly onRoom?: () => void
}

const DEFAULT_HIGH_WATER_CHARS = 1024 * 1024

type Reader = (result: IteratorResult<string, undefined>) => void

export class LineQueue implements AsyncIterable<string> {
  readonly #highWaterChars: number
  readonly #onRoom: (() => void) | undefined
  #lines: string[] = []
  #next = 0
  #waitingChars = 0
  #wasFull = false
  #reader: Reader | undefined
  #phase: "open" | "ended" | "abandoned" = "open"
  #taken = false

  constructor(options: LineQueueOptions = {}) {
    this.#highWaterChars = options.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS
    this.#onRoom = options.onRoom
  }

  /** Returns false when the queue is full; the lines are kept all the same. */
  push(lines: readonly string[]): boolean {
    if (this.#phase !== "open") return true
    let from = 0
    if (this.#reader !== undefined && lines.length > 0) {
      const reader = this.#reader
      this.#reader = undefined
      // The array is not empty here, so the first line exists.
      reader({ value: lines[0] ?? "", done: false })
      from = 1
    }
    for (let i = from; i < lines.length; i++) {
      const line = lines[i] ?? ""
      this.#lines.push(line)
      this.#waitingChars += line.length
    }
    if (this.#waitingChars > this.#highWaterChars) this.#wasFull = true
    return !this.#wasFull
  }

  /** No more lines come. Those that wait are still read. */
  end(): void {
    if (this.#phase !== "open") return
    this.#phase = "ended"
    this.#reader?.({ value: undefined, done: true })
    this.#reader = undefined
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    if (this.#taken) throw new Error("the lines of a transport have one reader; they were taken already")
    this.#taken = true
    return { next: () => this.#take(), return: () => this.#abandon() }
  }

  /**
   * The lines as they come in, many at a time, instead of one by one: awaiting each of millions of lines costs more than
   * decoding some of them.
   */
  async *batches(): AsyncGenerator<readonly string[], void, undefined> {
    const first = this[Symbol.asyncIterator]()
    try {
      for (let next = await first.next(); next.done !== true; next = await first.next()) {
        yield [next.value, ...this.#takeWaiting()]
      }
    } finally {
      await first.return?.()
    }
  }

  #takeWaiting(): string[] {
    const waiting = this.#next === 0 ? this.#lines : this.#lines.slice(this.#next)
    this.#lines = []
    this.#next = 0
    this.#waitingChars = 0
    this.#signalRoom()
    return waiting
  }

  #take(): Promise<IteratorResult<string, undefined>> {
    const line = this.#lines[this.#next]
    if (line !== undefined) {
      this.#lines[this.#next] = ""
      this.#next++
      this.#waitingChars -= line.length
      if (this.#next === this.#lines.length) {
        this.#lines = []
        this.#next = 0
      }
      this.#signalRoom()
      return Promise.resolve({ value: line, done: false })
    }
    if (this.#phase !== "open") return Promise.resolve({ value: undefined, done: true })
    if (this.#reader !== undefined) return Promise.reject(new Error("the next line is already being waited for"))
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  /** A reader that stops early gets no more, and must not hold up the peer either: what comes from now on is dropped. */
  #abandon(): Promise<IteratorResult<string, undefined>> {
    if (this.#phase === "open") this.#phase = "abandoned"
    this.#lines = []
    this.#next = 0
    this.#waitingChars = 0
    this.#signalRoom()
    return Promise.resolve({ value: undefined, done: true })
  }

  #signalRoom(): void {
    if (!this.#wasFull || this.#waitingChars > this.#highWaterChars / 2) return
    this.#wasFull = false
    this.#onRoom?.()
  }
}

/** The lines of any transport in batches: as they came in where the transport can, one by one where it cannot. */
export async function* lineBatches(lines: AsyncIterable<string>): AsyncGenerator<readonly string[], void, undefined> {
  if (lines instanceof LineQueue) yield* lines.batches()
  else for await (const line of lines) yield [line]
}
