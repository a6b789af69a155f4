import { Fifo } from "@signalbox/protocol/item-queue"
import { DEFAULT_HIGH_WATER_CHARS } from "./transport.ts"

/**
 * Lines that arrived and were not read yet, as an async iterable for one reader. Bounded by its owner: `push` tells when
 * the queue is full, and the owner stops reading from its peer until `onRoom` is called.
 */
export interface LineQueueOptions {
  /** Past this many characters waiting, the queue says it is full. */
  readonly highWaterChars?: number | undefined
  /** The reader has caught up after the queue was full: read on. */
  readonly onRoom?: () => void
}

const DONE = { value: undefined, done: true } as const
const NO_LINES: readonly string[] = []

export class LineQueue implements AsyncIterable<string> {
  readonly #highWaterChars: number
  readonly #onRoom: (() => void) | undefined
  /** As they were pushed: handing on whole arrays is what makes batches cheap. */
  readonly #batches = new Fifo<readonly string[]>()
  /** What is being read line by line, and how many of its lines were. */
  #current = NO_LINES
  #next = 0
  #waitingChars = 0
  #wasFull = false
  #wakeReader: ((fresh: readonly string[] | undefined) => void) | undefined
  #phase: "open" | "ended" | "abandoned" = "open"
  #taken = false

  constructor(options: LineQueueOptions = {}) {
    this.#highWaterChars = options.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS
    this.#onRoom = options.onRoom
  }

  /** Characters in the lines that nobody has read yet. */
  get waitingChars(): number {
    return this.#waitingChars
  }

  /** Returns false when the queue is full; the lines are kept all the same. The array must not change afterwards. */
  push(lines: readonly string[]): boolean {
    if (this.#phase !== "open") return true
    // Before it is decided whether the queue is full: what a reader waits for is not in the way of anything.
    if (lines.length > 0 && this.#wakeReader !== undefined) this.#wake(lines)
    else if (lines.length > 0) this.#keep(lines)
    if (this.#waitingChars > this.#highWaterChars) this.#wasFull = true
    return !this.#wasFull
  }

  /** No more lines come. Those that wait are still read. */
  end(): void {
    if (this.#phase !== "open") return
    this.#phase = "ended"
    this.#wake()
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    this.#claim()
    const take = (fresh?: readonly string[]) => this.#takeLine(fresh)
    return { next: () => this.#read(take), return: () => this.#abandon() }
  }

  /**
   * The lines as they come in, many at a time, instead of one by one: awaiting each of millions of lines costs more than
   * decoding some of them. Written by hand, because `return` of an async generator waits for the `next` before it, and
   * so for a line that may never come.
   */
  batches(): AsyncGenerator<readonly string[], void, undefined> {
    this.#claim()
    const take = (fresh?: readonly string[]) => fresh ?? this.#takeBatch()
    const batches: AsyncGenerator<readonly string[], void, undefined> = {
      next: () => this.#read(take),
      return: () => this.#abandon(),
      throw: async (error: unknown) => {
        await this.#abandon()
        throw error
      },
      [Symbol.asyncIterator]: () => batches,
    }
    return batches
  }

  #claim(): void {
    if (this.#taken) throw new Error("the lines of a transport have one reader; they were taken already")
    this.#taken = true
  }

  /** `take` gets the lines that have just come while it was waited for them; they are not in the queue. */
  #read<T>(take: (fresh?: readonly string[]) => T | undefined): Promise<IteratorResult<T, undefined>> {
    const ready = take()
    if (ready !== undefined) return Promise.resolve({ value: ready, done: false })
    if (this.#phase !== "open") return Promise.resolve(DONE)
    if (this.#wakeReader !== undefined) return Promise.reject(new Error("the next line is already being waited for"))
    return new Promise((resolve) => {
      this.#wakeReader = (fresh) => {
        const value = take(fresh)
        resolve(value === undefined ? DONE : { value, done: false })
      }
    })
  }

  #wake(fresh?: readonly string[]): void {
    const wake = this.#wakeReader
    this.#wakeReader = undefined
    wake?.(fresh)
  }

  #keep(lines: readonly string[]): void {
    this.#batches.push(lines)
    this.#waitingChars += charsOf(lines)
  }

  #takeBatch(): readonly string[] | undefined {
    const batch = this.#batches.take()
    if (batch !== undefined) this.#letGo(charsOf(batch))
    return batch
  }

  #takeLine(fresh?: readonly string[]): string | undefined {
    if (fresh !== undefined) this.#keep(fresh)
    if (this.#current.length === 0) this.#current = this.#batches.take() ?? NO_LINES
    const line = this.#current[this.#next]
    if (line === undefined) return undefined
    this.#next++
    if (this.#next === this.#current.length) {
      this.#current = NO_LINES
      this.#next = 0
    }
    this.#letGo(line.length)
    return line
  }

  /** A reader that stops early gets no more, and must not hold up the peer either: what comes from now on is dropped. */
  #abandon(): Promise<IteratorResult<never, undefined>> {
    if (this.#phase === "open") this.#phase = "abandoned"
    this.#batches.takeAll()
    this.#current = NO_LINES
    this.#next = 0
    this.#letGo(this.#waitingChars)
    this.#wake()
    return Promise.resolve(DONE)
  }

  #letGo(chars: number): void {
    this.#waitingChars -= chars
    if (!this.#wasFull || this.#waitingChars > this.#highWaterChars / 2) return
    this.#wasFull = false
    this.#onRoom?.()
  }
}

function charsOf(lines: readonly string[]): number {
  let chars = 0
  for (const line of lines) chars += line.length
  return chars
}

/** The lines of any transport in batches: as they came in where the transport can, one by one where it cannot. */
export function lineBatches(lines: AsyncIterable<string>): AsyncGenerator<readonly string[], void, undefined> {
  return lines instanceof LineQueue ? lines.batches() : oneByOne(lines)
}

async function* oneByOne(lines: AsyncIterable<string>): AsyncGenerator<readonly string[], void, undefined> {
  for await (const line of lines) yield [line]
}
