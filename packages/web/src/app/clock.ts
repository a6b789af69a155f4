import { useSyncExternalStore } from "react"
import { createValueStore } from "./value-store.ts"

/** How far the hub's clock is ahead of this browser's. */
let offsetMs = 0

/** The hub's time. Everything the hub dates is compared with this, never with the browser's own clock, which may be wrong. */
export function hubNow(): number {
  return Date.now() + offsetMs
}

/** When the hub told its time, by this browser's clock: it was asked at the one moment and had answered at the other. */
export interface ClockReading {
  readonly told: string
  readonly askedAt: number
  readonly heardAt: number
}

/** Undefined when it told no time. A difference that the way there and back explains is none. */
export function offsetOf({ told, askedAt, heardAt }: ClockReading): number | undefined {
  const hub = Date.parse(told)
  if (Number.isNaN(hub)) return undefined
  return hub >= askedAt && hub <= heardAt ? 0 : hub - (askedAt + heardAt) / 2
}

/** Asks something that tells the hub's time, and sets the clock by it. */
export async function setClockBy<Reply extends { readonly now: string }>(ask: () => Promise<Reply>): Promise<Reply> {
  const askedAt = Date.now()
  const reply = await ask()
  offsetMs = offsetOf({ told: reply.now, askedAt, heardAt: Date.now() }) ?? offsetMs
  tick()
  return reply
}

const now = createValueStore(hubNow())
let frozen = false
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  if (!frozen && document.visibilityState === "visible") now.set(hubNow())
}

function subscribe(listener: () => void): () => void {
  watchers++
  if (timer === undefined) {
    timer = setInterval(tick, 1000)
    document.addEventListener("visibilitychange", tick)
  }
  const leave = now.subscribe(listener)
  return () => {
    leave()
    watchers--
    if (watchers > 0) return
    clearInterval(timer)
    document.removeEventListener("visibilitychange", tick)
    timer = undefined
  }
}

/** The hub's time, to the second. While the hub is away it stands still: what is shown is of the moment it was lost. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, now.get)
}

export function freezeClock(isFrozen: boolean): void {
  frozen = isFrozen
  tick()
}
