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

/** Copies, and says so to those who listen: what was copied, or that it could not be. */
export function copyText(text: string, told = "Copied"): void {
  writeClipboard(text).then(
    (isCopied) => announce(isCopied ? told : REFUSED),
    () => announce(REFUSED),
  )
}

const REFUSED = "Couldn't copy"

async function writeClipboard(text: string): Promise<boolean> {
  // A page over plain http has no clipboard; what is selected can be copied all the same.
  if (!("clipboard" in navigator)) return copySelected(text)
  await navigator.clipboard.writeText(text)
  return true
}

function copySelected(text: string): boolean {
  const before = document.activeElement
  const field = document.createElement("textarea")
  field.value = text
  field.readOnly = true
  field.className = "sr-only"
  // Text outside of an open dialog cannot be selected.
  const place = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body
  place.append(field)
  try {
    field.focus({ preventScroll: true })
    field.select()
    return document.execCommand("copy")
  } finally {
    field.remove()
    if (before instanceof HTMLElement) before.focus({ preventScroll: true })
  }
}
