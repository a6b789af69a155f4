/** A prompt that is written to as one goes along. For one reader. */
export class PromptLine<T> implements AsyncIterable<T> {
  #waiting: T[] = []
  #reader: ((result: IteratorResult<T, undefined>) => void) | undefined
  #isEnded = false

  push(message: T): void {
    if (this.#isEnded) return
    const reader = this.#reader
    this.#reader = undefined
    if (reader === undefined) this.#waiting.push(message)
    else reader({ value: message, done: false })
  }

  end(): void {
    this.#isEnded = true
    this.#reader?.({ value: undefined, done: true })
    this.#reader = undefined
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => {
        const message = this.#waiting.shift()
        if (message !== undefined) return Promise.resolve({ value: message, done: false })
        if (this.#isEnded) return Promise.resolve({ value: undefined, done: true })
        return new Promise((resolve) => {
          this.#reader = resolve
        })
      },
      return: () => {
        this.end()
        return Promise.resolve({ value: undefined, done: true })
      },
    }
  }
}
