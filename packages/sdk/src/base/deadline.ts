import { LONGEST_TIMER_MS } from "@signalbox/protocol/timing"

/** Calls back once `ms` are over, however many they are, and never for `Infinity`. Returns what calls it off. */
export function startDeadline(ms: number, onOver: () => void): () => void {
  if (ms === Number.POSITIVE_INFINITY) return () => undefined
  let timer: NodeJS.Timeout | undefined
  const wait = (leftMs: number) => {
    const stepMs = Math.min(leftMs, LONGEST_TIMER_MS)
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : onOver()), stepMs)
  }
  wait(ms)
  return () => clearTimeout(timer)
}
