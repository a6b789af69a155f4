import type { Clock } from "@signalbox/transport"

/** The machine's own. A copy of the transport's, whose main entry would load WebSocket servers with it: a runner is to be small. */
export const machineClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run, kind) {
    const timer = setTimeout(run, delayMs)
    if (kind === "idle") timer.unref()
    return () => clearTimeout(timer)
  },
}
