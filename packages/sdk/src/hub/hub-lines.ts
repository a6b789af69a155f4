import { Waker } from "@signalbox/transport/pacing"
import type { SDKMessage } from "../types/messages.ts"
import type { HubCursor } from "../types/options.ts"

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
  readonly #reader = new Waker()
  readonly #writer = new Waker()

  readonly batches: AsyncIterable<readonly string[]> = { [Symbol.asyncIterator]: () => this.#read() }

  push(line: string): void {
    if (this.#isEnded) return
    this.#waiting.push(line)
    this.#waitingChars += line.length
    this.#pushed++
    this.#reader.wake()
  }

  /** Resolves when there is room for more. For one at a time. */
  async room(): Promise<void> {
    while (this.#waitingChars > HIGH_WATER_CHARS && !this.#isEnded) await this.#writer.wait()
  }

  /** Resolves when the reader has dealt with all that was pushed so far, or reads no more. */
  dealtWith(): Promise<void> {
    return new Promise((reached) => {
      this.#marks.push({ at: this.#pushed, reached })
      if (this.#isEnded) this.#reach(Number.POSITIVE_INFINITY)
      else this.#reader.wake()
    })
  }

  /** What waits is still read. */
  end(): void {
    this.#isEnded = true
    this.#reader.wake()
    this.#writer.wake()
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
        this.#writer.wake()
        yield batch
        this.#dealtWith += count
        continue
      }
      if (this.#isEnded) return
      await this.#reader.wait()
    }
  }

  #reach(count: number): void {
    const reached = this.#marks.filter((mark) => mark.at <= count)
    this.#marks = this.#marks.filter((mark) => mark.at > count)
    for (const mark of reached) mark.reached()
  }
}

/** Travels in front of a line's own fields, and is taken off before the program sees the message. */
const FIELD = "signalbox_cursor"

/** `line` is an object with at least one field, as every message is. */
export function stamped(line: string, cursor: HubCursor): string {
  return `{"${FIELD}":${JSON.stringify(cursor)},${line.slice(1)}`
}

interface Messages {
  next(): Promise<IteratorResult<SDKMessage, undefined>>
}

/** Reads a query's messages and knows how far the program has come: not what has arrived counts, but what was handed over. */
export class CursorReader {
  readonly #messages: Messages
  #cursor: HubCursor | undefined

  constructor(messages: Messages) {
    this.#messages = messages
  }

  get cursor(): HubCursor | undefined {
    return this.#cursor
  }

  /** Where reading begins. */
  begin(cursor: HubCursor): void {
    this.#cursor = cursor
  }

  async next(): Promise<IteratorResult<SDKMessage, undefined>> {
    const result = await this.#messages.next()
    if (result.done !== true) this.#take(result.value)
    return result
  }

  #take(message: object): void {
    const cursor: unknown = Reflect.get(message, FIELD)
    if (!isCursor(cursor)) return
    Reflect.deleteProperty(message, FIELD)
    this.#cursor = cursor
  }
}

function isCursor(value: unknown): value is HubCursor {
  return typeof value === "object" && value !== null && "session" in value && "after" in value
}
