import { isEditable } from "./visible-height.ts"

/** Longer than a screen takes to come. */
const MAX_MS = 10_000
const MAX_CHARS = 500

let typed = ""
let stop: (() => void) | undefined

/** What is typed from now on is meant for a field that is not there yet: it is kept for it, and is no shortcut. */
export function keepTypedAhead(): void {
  stop?.()
  typed = ""
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Shift" || event.isComposing) return
    const isText = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
    if (!isText || isEditable(event.target)) return stop?.()
    event.preventDefault()
    event.stopPropagation()
    typed = `${typed}${event.key}`.slice(0, MAX_CHARS)
  }
  const end = () => stop?.()
  const timer = setTimeout(end, MAX_MS)
  addEventListener("keydown", onKey, true)
  addEventListener("pointerdown", end, true)
  stop = () => {
    clearTimeout(timer)
    removeEventListener("keydown", onKey, true)
    removeEventListener("pointerdown", end, true)
    stop = undefined
  }
}

/** For the field, once it has the focus. */
export function takeTypedAhead(): string {
  stop?.()
  const text = typed
  typed = ""
  return text
}
