/** Past this many characters unread, whoever follows the hub's log waits. */
const HIGH_WATER_CHARS = 1024 * 1024

interface Mark {
  readonly at: number
  readonly reached: () => void
}

/** Lines from a hub on their way to the query, for one reader. */
export class HubLines {
  #waiting: string[] = []
  #waitingChars = 0
  #pushed = 0
  /** All that the reader took and has dealt with: it has asked for more since. */
  #dealtWith = 0
  #isEnded = false
  #marks: Mark[] = []
  #wakeReader: (() => void) | undefined
  #wakeWriter: (() => void) | undefined

  readonly batches: AsyncIterable<readonly string[]> = { [Symbol.asyncIterator]: () => this.#read() }

  push(line: string): void {
    if (this.#isEnded) return
    this.#waiting.push(line)
    this.#waitingChars += line.length
    this.#pushed++
    this.#wakeReader?.()
  }

  /** Resolves when there is room for more. For one at a time. */
  async room(): Promise<void> {
    while (this.#waitingChars > HIGH_WATER_CHARS && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve
      })
    }
  }

  /** Resolves when the reader has dealt with all that was pushed so far, or reads no more. */
  dealtWith(): Promise<void> {
    return new Promise((reached) => {
      this.#marks.push({ at: this.#pushed, reached })
      if (this.#isEnded) this.#reach(Number.POSITIVE_INFINITY)
      else this.#wakeReader?.()
    })
  }

  /** What waits is still read. */
  end(): void {
    this.#isEnded = true
    this.#wakeReader?.()
    this.#wakeWriter?.()
    this.#reach(Number.POSITIVE_INFINITY)
  }

  async *#read(): AsyncGenerator<readonly string[], void> {
    for (;;) {
      this.#reach(this.#dealtWith)
      const batch = this.#waiting
      if (batch.length > 0) {
        const count = batch.length
        this.#waiting = []
        this.#waitingChars = 0
        this.#wakeWriter?.()
        yield batch
        this.#dealtWith += count
        continue
      }
      if (this.#isEnded) return
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve
      })
    }
  }

  #reach(count: number): void {
    const reached = this.#marks.filter((mark) => mark.at <= count)
    this.#marks = this.#marks.filter((mark) => mark.at > count)
    for (const mark of reached) mark.reached()
  }
}
