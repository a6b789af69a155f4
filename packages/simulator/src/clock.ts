import { setTimeout as delay } from "node:timers/promises"

/** Time as an agent sees it. Tests give their own. */
export interface AgentClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Waits at the scenario's pace, which the time scale shortens. Ends early, without an error, when aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** A time-out of the protocol. No time scale touches it: a host is as slow as it is. Returns what takes it back. */
  timeout(ms: number, run: () => void): () => void
}

/** `timeScale` 1 is the pace of the scenario, 0 as fast as possible. */
export function createClock(timeScale = 1): AgentClock {
  return {
    now: () => Date.now(),
    async pause(ms, signal) {
      await delay(ms * timeScale, undefined, { signal }).catch(() => undefined)
    },
    timeout(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
  }
}
