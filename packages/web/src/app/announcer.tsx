import { createValueStore, useValue } from "./value-store.ts"

const said = createValueStore("")
const PAUSE_MS = 3000
let waiting: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/** Told to those who listen instead of look: at most every three seconds, and then the latest. */
export function announce(text: string): void {
  if (timer !== undefined) {
    waiting = text
    return
  }
  said.set(text)
  timer = setTimeout(() => {
    timer = undefined
    const next = waiting
    waiting = undefined
    if (next !== undefined) announce(next)
  }, PAUSE_MS)
}

export function Announcer() {
  return (
    <div role="status" aria-live="polite" aria-label="Announcements" className="sr-only">
      {useValue(said)}
    </div>
  )
}
