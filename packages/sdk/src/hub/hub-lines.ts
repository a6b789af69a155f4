import { ItemQueue } from "@signalbox/protocol/item-queue"
import { Waker } from "@signalbox/transport/pacing"
import type { SDKMessage } from "../types/messages.ts"
import type { HubCursor } from "../types/options.ts"

/** Past this many characters unread, whoever follows the hub's log waits. */
const HIGH_WATER_CHARS = 1024 * 1024

/** Lines from a hub on their way to the query, for one reader. */
export class HubLines {
  readonly #change = new Waker()
  readonly #queue = new ItemQueue<readonly string[]>({
    onTaken: () => this.#change.wake(),
    onDrained: () => this.#change.wake(),
    onEnded: () => this.#change.wake(),
  })
  #isEnded = false
  readonly batches: AsyncIterable<readonly string[]> = this.#queue

  push(line: string): void {
    this.#queue.push([line], line.length)
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#queue.waitingChars > HIGH_WATER_CHARS && !this.#isEnded) await this.#change.wait()
  }

  /** Resolves when the reader has dealt with all there is, and has asked for more; or when no more comes. */
  async dealtWith(): Promise<void> {
    while (!this.#queue.isAwaited && !this.#isEnded) await this.#change.wait()
  }

  /** Waiting lines are still read. */
  end(): void {
    this.#isEnded = true
    this.#queue.end()
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
  /** The cursor: reading begins there, and goes on from there. */
  cursor: HubCursor | undefined

  constructor(messages: Messages) {
    this.#messages = messages
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
    this.cursor = cursor
  }
}

function isCursor(value: unknown): value is HubCursor {
  return typeof value === "object" && value !== null && "session" in value && "after" in value
}
