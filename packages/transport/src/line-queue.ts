import { ItemQueue } from "@signalbox/protocol/item-queue"
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

/** A batch ends with the line that reaches one of these, so that nobody is at one batch for long. */
const MAX_BATCH = { lines: 64, chars: 64 * 1024 } as const

export class LineQueue implements AsyncIterable<string> {
  readonly #highWaterChars: number
  readonly #onRoom: (() => void) | undefined
  /** As they were pushed: handing on whole arrays is what makes batches cheap. */
  readonly #batches = new ItemQueue<readonly string[]>({ onTaken: () => this.#considerRoom() })
  #isFull = false
  #isTaken = false

  constructor(options: LineQueueOptions = {}) {
    this.#highWaterChars = options.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS
    this.#onRoom = options.onRoom
  }

  /** Characters in the lines that nobody has taken yet. */
  get waitingChars(): number {
    return this.#batches.waitingChars
  }

  /** Returns false when the queue is full; the lines are kept all the same. The array must not change afterwards. */
  push(lines: readonly string[]): boolean {
    let from = 0
    while (from < lines.length) from = this.#pushBatch(lines, from)
    // Lines that a reader waits for are not in the way of anything.
    if (this.waitingChars > this.#highWaterChars) this.#isFull = true
    return !this.#isFull
  }

  /** Returns where the next batch begins. */
  #pushBatch(lines: readonly string[], from: number): number {
    let chars = 0
    let to = from
    do chars += lines[to++]?.length ?? 0
    while (to < lines.length && to - from < MAX_BATCH.lines && chars < MAX_BATCH.chars)
    this.#batches.push(to - from === lines.length ? lines : lines.slice(from, to), chars)
    return to
  }

  /** No more lines come. Those that wait are still read. */
  end(): void {
    this.#batches.end()
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    const batches = this.batches()
    let [lines, at]: [readonly string[], number] = [[], 0]
    const readLine = (): Promise<IteratorResult<string, undefined>> => {
      if (at === lines.length) [lines, at] = [batches.take() ?? [], 0]
      const line = lines[at]
      if (line !== undefined) {
        at++
        return Promise.resolve({ value: line, done: false })
      }
      return batches.next().then((batch) => {
        if (batch.done === true) return batch
        lines = batch.value
        return readLine()
      })
    }
    return {
      next: readLine,
      return() {
        lines = []
        at = 0
        return batches.return()
      },
    }
  }

  /**
   * The lines as they come in, many at a time, instead of one by one: awaiting each of millions of lines costs more than
   * decoding some of them. A reader that stops early gets no more, and holds up the peer no more either.
   */
  batches(): ItemQueue<readonly string[]> {
    if (this.#isTaken) throw new Error("the lines of a transport have one reader; they were taken already")
    this.#isTaken = true
    return this.#batches
  }

  #considerRoom(): void {
    if (!this.#isFull || this.waitingChars > this.#highWaterChars / 2) return
    this.#isFull = false
    this.#onRoom?.()
  }
}

/** The lines of any transport in batches: as they came in where the transport can, one by one where it cannot. */
export function lineBatches(lines: AsyncIterable<string>): AsyncIterableIterator<readonly string[], undefined> {
  return lines instanceof LineQueue ? lines.batches() : oneByOne(lines)
}

async function* oneByOne(lines: AsyncIterable<string>): AsyncGenerator<readonly string[], undefined> {
  for await (const line of lines) yield [line]
  return undefined
}
