import { setTimeout as pause } from "node:timers/promises"
import { type Found, probePorts } from "./probe.ts"

/** `up`: it answers now. `down`: it no longer does. */
export interface Change extends Found {
  readonly event: "up" | "down"
}

const INTERVAL_MS = 1_000
/** One that is busy may miss a look: it is gone when it missed two. */
const MISSES = 2

/** Tells of each hub and relay at these ports, then of each that comes or goes, until the signal aborts. */
export async function* watchPorts(signal: AbortSignal, ports?: readonly number[]): AsyncGenerator<Change> {
  const known = new Map<number, Found>()
  const missed = new Map<number, number>()
  while (!signal.aborted) {
    const found = new Map((await probePorts(ports, known)).map((each) => [each.port, each]))
    for (const [port, before] of known) {
      const now = found.get(port)
      const misses = now === undefined ? (missed.get(port) ?? 0) + 1 : 0
      missed.set(port, misses)
      if (now?.kind === before.kind || (now === undefined && misses < MISSES)) continue
      known.delete(port)
      missed.delete(port)
      yield { event: "down", ...before }
    }
    for (const [port, each] of found) {
      if (known.has(port)) continue
      known.set(port, each)
      yield { event: "up", ...each }
    }
    await pause(INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}
