import type { SDKMessage } from "../types/messages.ts"

/** Past this many characters that wait the agent waits for the program. About as many may be with the program's reader already. */
const HIGH_WATER_CHARS = 512 * 1024
/** Past this many the agent waits for the program, whatever the program waits for. */
const LIMIT_CHARS = 64 * 1024 * 1024

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

const DONE: Result = { value: undefined, done: true }

/**
 * Messages on their way to the program. Written by hand, and filled with as many messages as came at once: a generator's
 * frame, or a careful count, for each of a million messages costs more than all the rest.
 */
export class MessageQueue {
  readonly #onRoom: () => void
  /** The messages being read, and how many of them were. Messages that were read are let go at once. */
  #current: (SDKMessage | undefined)[] = []
  #next = 0
  /** The messages that are read after those. */
  #waiting: SDKMessage[] = []
  #waitingChars = 0
  /** How many messages had been read before the current ones. */
  #readBefore = 0
  /** How many came since the event loop last went round. */
  #newlyCome = 0
  #readers: Reader[] = []
  #ending: Ending = { kind: "open" }

  /** `onRoom` is called when what a full queue held is being read. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  get isFull(): boolean {
    return this.#waitingChars > HIGH_WATER_CHARS
  }

  get isAtLimit(): boolean {
    return this.#waitingChars > LIMIT_CHARS
  }

  /** How many messages the program has taken so far. */
  get readCount(): number {
    return this.#readBefore + this.#next
  }

  /** The program has dealt with everything there was, and waits for more. */
  get isAwaited(): boolean {
    return this.#readers.length > 0
  }

  /** The array is the queue's from now on; `chars` is the length of all its messages together. */
  push(messages: SDKMessage[], chars: number): void {
    if (this.#ending.kind !== "open") return
    if (this.#waiting.length === 0) this.#waiting = messages
    else for (const message of messages) this.#waiting.push(message)
    this.#waitingChars += chars
    this.#noteNew(messages.length)
    while (this.#readers.length > 0 && this.#hasNext()) this.#readers.shift()?.resolve(this.#take())
  }

  next(): Promise<Result> {
    if (this.#next < this.#current.length || this.#hasNext()) return Promise.resolve(this.#take())
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

  /** As `end`, but what has only just come is not read: whoever ends it at a message wants none that came along with it. */
  endHere(): void {
    if (this.#ending.kind !== "open") return
    const fromWaiting = Math.min(this.#newlyCome, this.#waiting.length)
    this.#waiting.length -= fromWaiting
    const fromCurrent = Math.min(this.#newlyCome - fromWaiting, this.#current.length - this.#next)
    this.#current.length -= fromCurrent
    this.end()
  }

  /** Nobody will read any more. */
  drop(): void {
    this.#readBefore += this.#next
    this.#current = []
    this.#next = 0
    this.#waiting = []
    this.#waitingChars = 0
    this.end()
    this.#ending = { kind: "ended" }
    this.#onRoom()
  }

  #noteNew(count: number): void {
    if (count === 0) return
    // The program's immediate act on a message comes before this: the event loop goes round after that.
    if (this.#newlyCome === 0) setImmediate(() => (this.#newlyCome = 0))
    this.#newlyCome += count
  }

  #hasNext(): boolean {
    if (this.#next < this.#current.length) return true
    if (this.#waiting.length === 0) return false
    const wasFull = this.isFull
    this.#readBefore += this.#current.length
    this.#current = this.#waiting
    this.#next = 0
    this.#waiting = []
    this.#waitingChars = 0
    if (wasFull) this.#onRoom()
    return true
  }

  #take(): Result {
    const message = this.#current[this.#next]
    if (message === undefined) return DONE
    this.#current[this.#next] = undefined
    this.#next++
    return { value: message, done: false }
  }
}
