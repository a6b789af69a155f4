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
