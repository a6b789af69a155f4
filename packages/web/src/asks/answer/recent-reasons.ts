/** The last reasons that were given for a denial, on this browser: what was said once is often said again. */
const KEY = "signalbox:reasons"
const MAX_REASONS = 4
const MAX_CHARS = 500

export function recentReasons(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept)
      ? kept.filter((reason): reason is string => typeof reason === "string").slice(0, MAX_REASONS)
      : []
  } catch {
    return []
  }
}

export function keepReason(reason: string): void {
  if (reason === "" || reason.length > MAX_CHARS) return
  try {
    const others = recentReasons().filter((kept) => kept !== reason)
    localStorage.setItem(KEY, JSON.stringify([reason, ...others].slice(0, MAX_REASONS)))
  } catch {
    // Then it is not offered the next time.
  }
}
