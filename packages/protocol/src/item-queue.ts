/** Items that wait for their one reader. Its owner bounds it by `waitingChars`. */
export interface ItemQueueOptions {
  /** The reader has taken one that waited, or what waited was dropped. */
  readonly onTaken?: () => void
  /** Everything was read, and the reader waits for more. */
  readonly onDrained?: () => void
  /** Once: the reader stopped, or nothing more comes. */
  readonly onEnded?: () => void
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

type Phase = { readonly name: "open" } | { readonly name: "ended"; readonly error?: Error }

const DONE = { value: undefined, done: true } as const

/** Written by hand: `return` of an async generator waits for the `next` before it, and so for an item that may never come. */
export class ItemQueue<T> implements AsyncIterableIterator<T, undefined> {
  readonly #options: ItemQueueOptions
  readonly #items = new Fifo<{ readonly item: T; readonly chars: number }>()
  #waitingChars = 0
  #waiter: Waiter<T> | undefined
  #phase: Phase = { name: "open" }

  constructor(options: ItemQueueOptions = {}) {
    this.#options = options
  }

  get waitingChars(): number {
    return this.#waitingChars
  }

  /** The reader has dealt with everything there was, and waits for more. */
  get isAwaited(): boolean {
    return this.#waiter !== undefined
  }

  push(item: T, chars = 0): void {
    if (this.#phase.name !== "open") return
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter !== undefined) return waiter.resolve({ value: item, done: false })
    this.#items.push({ item, chars })
    this.#waitingChars += chars
  }

  /** Waiting items are still read; then the reading ends, with the error if there is one. */
  end(error?: Error): void {
    if (this.#phase.name !== "open") return
    this.#phase = error === undefined ? { name: "ended" } : { name: "ended", error }
    const waiter = this.#waiter
    this.#waiter = undefined
    if (waiter !== undefined) this.#settleEnd(waiter)
    this.#options.onEnded?.()
  }

  /** One that waits; undefined when there is none. */
  take(): T | undefined {
    const first = this.#items.take()
    if (first === undefined) return undefined
    this.#waitingChars -= first.chars
    this.#options.onTaken?.()
    return first.item
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const first = this.take()
    if (first !== undefined) return Promise.resolve({ value: first, done: false })
    if (this.#waiter !== undefined) return Promise.reject(new Error("the next item is already being waited for"))
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject }
      if (this.#phase.name === "ended") return this.#settleEnd(waiter)
      this.#waiter = waiter
      this.#options.onDrained?.()
    })
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.abandon()
    // A reader that stopped wants no error either.
    this.#phase = { name: "ended" }
    return Promise.resolve(DONE)
  }

  /** Waiting items are dropped. */
  abandon(error?: Error): void {
    this.#items.takeAll()
    this.#waitingChars = 0
    this.end(error)
    this.#options.onTaken?.()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** An error is told once. */
  #settleEnd(waiter: Waiter<T>): void {
    const error = this.#phase.name === "ended" ? this.#phase.error : undefined
    this.#phase = { name: "ended" }
    if (error === undefined) waiter.resolve(DONE)
    else waiter.reject(error)
  }
}

/**
 * First in, first out, in linear time. Two stacks, so that what was taken is let go at once, its slot with it, however far
 * behind the taker is: nothing has to be compacted now and then.
 */
export class Fifo<T> {
  /** The oldest are here, the very oldest last. */
  #old: T[] = []
  /** The newest are here, the very newest last. */
  #new: T[] = []

  get length(): number {
    return this.#old.length + this.#new.length
  }

  push(item: T): void {
    this.#new.push(item)
  }

  /** Undefined when there is nothing. */
  take(): T | undefined {
    if (this.#old.length === 0) {
      this.#old = this.#new.toReversed()
      this.#new = []
    }
    return this.#old.pop()
  }

  takeAll(): T[] {
    const items = this.#old.length === 0 ? this.#new : [...this.#old.toReversed(), ...this.#new]
    this.#old = []
    this.#new = []
    return items
  }
}
