import { createValueStore } from "../app/value-store.ts"

const KEY = "signalbox:seen"
const MAX_KEPT = 500

type Seen = Readonly<Record<string, number>>

function read(): Seen {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}")
    if (typeof kept !== "object" || kept === null) return {}
    return Object.fromEntries(
      Object.entries(kept).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
    )
  } catch {
    return {}
  }
}

/** The last event of each session that this browser showed: what ended since is "Ready". */
export const seen = createValueStore(read())

addEventListener("storage", ({ key }) => {
  if (key === KEY) seen.set(read())
})

export function markSeen(session: string, seq: number): void {
  const now = seen.get()
  if ((now[session] ?? 0) >= seq) return
  // The one touched last is last: the oldest are forgotten first.
  const { [session]: _, ...others } = now
  const next = Object.fromEntries([...Object.entries(others), [session, seq] as const].slice(-MAX_KEPT))
  seen.set(next)
  try {
    localStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // Kept for as long as the page lives.
  }
}
