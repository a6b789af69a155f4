import type { SDKMessage } from "../types/messages.ts"

/** Past this many characters of unread messages the agent is not read on. */
const HIGH_WATER_CHARS = 1024 * 1024

type Result = IteratorResult<SDKMessage, undefined>
interface Reader {
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

type Ending =
  | { readonly kind: "open" }
  | { readonly kind: "ended" }
  /** Thrown once, after what waits has been read; then it is an end like any other. */
  | { readonly kind: "failed"; readonly error: Error }

/** Slots that are kept for the next messages. */
const KEPT_SLOTS = 4096
const DONE: Result = { value: undefined, done: true }

/**
 * Messages on their way to the program. Written by hand: a generator's frame for each of a million messages costs more
 * than all the rest.
 */
export class MessageQueue {
  readonly #onRoom: () => void
  /**
   * Those that wait are between `#next` and `#end`. The arrays are used over and over, from the beginning whenever they
   * have been read to the end: growing new ones for every batch is dear. What was read is let go at once.
   */
  #messages: (SDKMessage | undefined)[] = []
  #chars: number[] = []
  #next = 0
  #end = 0
  #waitingChars = 0
  #readers: Reader[] = []
  #ending: Ending = { kind: "open" }

  /** `onRoom` is called when a full queue has been read down to the mark. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  get isFull(): boolean {
    return this.#waitingChars > HIGH_WATER_CHARS
  }

  push(message: SDKMessage, chars: number): void {
    if (this.#ending.kind !== "open") return
    if (this.#readers.length > 0) {
      this.#readers.shift()?.resolve({ value: message, done: false })
      return
    }
    this.#messages[this.#end] = message
    this.#chars[this.#end] = chars
    this.#end++
    this.#waitingChars += chars
  }

  next(): Promise<Result> {
    if (this.#next < this.#end) return Promise.resolve(this.#take(this.#next))
    const ending = this.#ending
    if (ending.kind === "ended") return Promise.resolve(DONE)
    if (ending.kind === "failed") {
      this.#ending = { kind: "ended" }
      return Promise.reject(ending.error)
    }
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject })
    })
  }

  /** No more messages come; those that wait are still read. */
  end(): void {
    if (this.#ending.kind !== "open") return
    this.#ending = { kind: "ended" }
    for (const reader of this.#readers) reader.resolve(DONE)
    this.#readers = []
  }

  /** As `end`, but whoever reads to the end is told why. */
  fail(error: Error): void {
    if (this.#ending.kind !== "open") return
    const [first, ...others] = this.#readers
    this.#readers = []
    this.#ending = first === undefined ? { kind: "failed", error } : { kind: "ended" }
    first?.reject(error)
    for (const reader of others) reader.resolve(DONE)
  }

  /** Nobody will read any more. */
  drop(): void {
    this.#startOver()
    this.#waitingChars = 0
    this.end()
    this.#ending = { kind: "ended" }
    this.#onRoom()
  }

  #take(at: number): Result {
    const message = this.#messages[at]
    if (message === undefined) return DONE
    this.#messages[at] = undefined
    const wasFull = this.isFull
    this.#waitingChars -= this.#chars[at] ?? 0
    this.#next = at + 1
    if (this.#next === this.#end) this.#rewind()
    else if (this.#next > KEPT_SLOTS && this.#next > this.#end / 2) this.#compact()
    if (wasFull && !this.isFull) this.#onRoom()
    return { value: message, done: false }
  }

  #rewind(): void {
    if (this.#end > KEPT_SLOTS) return this.#startOver()
    this.#next = 0
    this.#end = 0
  }

  /** A queue that never runs empty must not grow for ever: the empty half is cut off, so each slot is moved about once. */
  #compact(): void {
    this.#messages = this.#messages.slice(this.#next, this.#end)
    this.#chars = this.#chars.slice(this.#next, this.#end)
    this.#end -= this.#next
    this.#next = 0
  }

  #startOver(): void {
    this.#messages = []
    this.#chars = []
    this.#next = 0
    this.#end = 0
  }
}
