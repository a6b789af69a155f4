/** Time as a port, so that a schedule of minutes is tested in milliseconds and to the millisecond. */
export interface Clock {
  /** Milliseconds, of the wall: a monotonic clock stands still while the machine sleeps, and sleep must be noticed. */
  now(): number
  /** Runs once after the delay. Returns what cancels it. An idle timer does not keep the process alive. */
  after(delayMs: number, run: () => void, kind?: "idle"): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run, kind) {
    const timer = setTimeout(run, delayMs)
    if (kind === "idle") timer.unref()
    return () => clearTimeout(timer)
  },
}

export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
}

/** A promise that is settled from outside. */
export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>["resolve"] = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Those who wait for something to change. Each looks for itself whether that was what it waits for. */
export class Waker {
  #waiting: (() => void)[] = []

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** As `wait`, for a callback: it is called once. */
  add(wake: () => void): void {
    this.#waiting.push(wake)
  }

  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
