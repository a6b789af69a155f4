import { useSyncExternalStore } from "react"
import { createValueStore } from "./value-store.ts"

const now = createValueStore(Date.now())
let frozen = false
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  if (!frozen && document.visibilityState === "visible") now.set(Date.now())
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

/** The time, to the second. While the hub is away it stands still: what is shown is of the moment it was lost. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, now.get)
}

export function freezeClock(isFrozen: boolean): void {
  frozen = isFrozen
  tick()
}
