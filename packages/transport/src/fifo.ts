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
