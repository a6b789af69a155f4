import { matchPath } from "../app/router.tsx"

const KEY = "signalbox:looking"
const FRESH_MS = 15_000
const BEAT_MS = 5000

/** What a page that is on top and has the focus shows: a session, or the inbox, which shows them all. */
function lookedAt(): string | undefined {
  if (document.visibilityState !== "visible" || !document.hasFocus()) return undefined
  if (location.pathname.startsWith("/approvals")) return "*"
  return matchPath("/s/:id", location.pathname)?.["id"]
}

/** Tells this browser's other tabs, again and again, for as long as somebody looks. */
export function tellLooking(): () => void {
  const beat = () => {
    const what = lookedAt()
    if (what === undefined) return
    try {
      localStorage.setItem(KEY, JSON.stringify({ what, at: Date.now() }))
    } catch {
      // Then the other tabs do not know, and tell once too often.
    }
  }
  beat()
  const timer = setInterval(beat, BEAT_MS)
  const events = ["focus", "blur", "popstate"] as const
  for (const event of events) addEventListener(event, beat)
  return () => {
    clearInterval(timer)
    for (const event of events) removeEventListener(event, beat)
  }
}

/** Whether somebody at this browser had a session before their eyes in the last 15 s, in whatever tab. */
export function wasLookedAt(session: string): boolean {
  const here = lookedAt()
  if (here === session || here === "*") return true
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null")
    if (typeof kept !== "object" || kept === null || !("what" in kept) || !("at" in kept)) return false
    const isFresh = typeof kept.at === "number" && Date.now() - kept.at < FRESH_MS
    return isFresh && (kept.what === session || kept.what === "*")
  } catch {
    return false
  }
}
