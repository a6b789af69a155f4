import { useEffect, useState } from "react"
import { Button } from "../../design/button.tsx"

const KEY = "signalbox:find-hint-seen"

function wasSeen(): boolean {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return true
  }
}

function markSeen(): void {
  try {
    localStorage.setItem(KEY, "yes")
  } catch {
    // A browser that keeps nothing is told again.
  }
}

/** The browser's own search sees only what is loaded. Said once, to somebody who uses it on a long session. */
export function FindHint({ isWhole }: { readonly isWhole: boolean }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (isWhole || wasSeen()) return undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || wasSeen()) return
      setShown(true)
      markSeen()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [isWhole])
  if (!isShown) return null
  return (
    <p
      role="status"
      className="pointer-events-auto flex items-center gap-2 rounded-control border border-line bg-raised px-3 py-1 text-dense shadow-popover"
    >
      Browser search covers loaded events only. Press / to search the whole session.
      <Button look="quiet" onClick={() => setShown(false)}>
        Got it
      </Button>
    </p>
  )
}
