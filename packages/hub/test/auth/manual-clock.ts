import type { Clock } from "@signalbox/transport"

/** Time that passes when it is told to. */
export class ManualClock implements Clock {
  #now = Date.parse("2030-01-01T00:00:00Z")
  readonly #timers = new Set<{ due: number; run: () => void }>()

  now(): number {
    return this.#now
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { due: this.#now + delayMs, run }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Time passes and nobody gets to run: the process was busy. */
  skip(ms: number): void {
    this.#now += ms
  }

  pass(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers].filter(({ due }) => due <= this.#now)) {
      this.#timers.delete(timer)
      timer.run()
    }
  }
}
