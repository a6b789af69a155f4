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

/** Settles as the promise does, or as `onOver` says, which may throw, once `ms` are over. */
export async function within<T>(ms: number, promise: Promise<T>, onOver: () => T): Promise<T> {
  let callOff: (() => void) | undefined
  const late = new Promise<void>((resolve) => {
    callOff = startDeadline(ms, resolve)
  })
  try {
    return await Promise.race([promise, late.then(onOver)])
  } finally {
    callOff?.()
  }
}

/** A promise that nobody may be waiting for fails without ending the program; whoever waits is told all the same. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}
