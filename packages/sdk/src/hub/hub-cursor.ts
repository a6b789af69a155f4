import type { MessageQueue } from "../engine/message-queue.ts"
import type { SDKMessage } from "../types/messages.ts"
import type { HubCursor } from "../types/options.ts"

/** Travels in front of a line's own fields, and is taken off before the program sees the message. */
const FIELD = "signalbox_cursor"

/** `line` is an object with at least one field, as every message is. */
export function stamped(line: string, cursor: HubCursor): string {
  return `{"${FIELD}":${JSON.stringify(cursor)},${line.slice(1)}`
}

/** Reads a query's messages and knows how far the program has come: not what has arrived counts, but what was handed over. */
export class CursorReader {
  readonly #messages: MessageQueue
  #cursor: HubCursor | undefined

  constructor(messages: MessageQueue) {
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
