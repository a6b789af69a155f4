/** Those who wait for a session's agent to be there. */
export class Arrivals {
  readonly #waiting = new Set<(isHere: boolean) => void>()

  get areAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** True when it came in time, false when it did not or never will. */
  wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isHere: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(settle)
        resolve(isHere)
      }
      const timer = setTimeout(() => settle(false), timeoutMs)
      timer.unref()
      this.#waiting.add(settle)
    })
  }

  tell(isHere: boolean): void {
    for (const settle of this.#waiting) settle(isHere)
  }
}
