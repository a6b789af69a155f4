import type { SDKMessage } from "../types/messages.ts"

/** Past this many characters that wait the agent is not read on. About as many may be with the program's reader already. */
const HIGH_WATER_CHARS = 512 * 1024

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
  /** What is being read, and how much of it was. What was read is let go at once. */
  #current: (SDKMessage | undefined)[] = []
  #next = 0
  /** What is read after that. */
  #waiting: SDKMessage[] = []
  #waitingChars = 0
  #readers: Reader[] = []
  #ending: Ending = { kind: "open" }

  /** `onRoom` is called when what a full queue held is being read. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom
  }

  get isFull(): boolean {
    return this.#waitingChars > HIGH_WATER_CHARS
  }

  /** The array is the queue's from now on; `chars` is the length of all its messages together. */
  push(messages: SDKMessage[], chars: number): void {
    if (this.#ending.kind !== "open") return
    if (this.#waiting.length === 0) this.#waiting = messages
    else for (const message of messages) this.#waiting.push(message)
    this.#waitingChars += chars
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

  /** Nobody will read any more. */
  drop(): void {
    this.#current = []
    this.#next = 0
    this.#waiting = []
    this.#waitingChars = 0
    this.end()
    this.#ending = { kind: "ended" }
    this.#onRoom()
  }

  #hasNext(): boolean {
    if (this.#next < this.#current.length) return true
    if (this.#waiting.length === 0) return false
    const wasFull = this.isFull
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
