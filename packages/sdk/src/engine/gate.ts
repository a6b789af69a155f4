/** Somebody waits for it to open, again and again. Opening it while nobody waits is remembered once. */
export class Gate {
  #isOpen = false
  #waiting: (() => void) | undefined

  readonly open = (): void => {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#isOpen = true
    else waiting()
  }

  /** For one at a time. */
  wait(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}
