import { createValueStore } from "../app/value-store.ts"

const KEY = "signalbox:searches"
const MAX_KEPT = 8

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? kept.filter((text) => typeof text === "string").slice(0, MAX_KEPT) : []
  } catch {
    return []
  }
}

/** What was looked for and led somewhere, on this browser, the last first. */
export const recentQueries = createValueStore(read())

export function rememberQuery(text: string): void {
  const trimmed = text.trim()
  if (trimmed === "") return
  keep([trimmed, ...recentQueries.get().filter((one) => one !== trimmed)].slice(0, MAX_KEPT))
}

export function forgetQueries(): void {
  keep([])
}

function keep(texts: readonly string[]): void {
  recentQueries.set(texts)
  try {
    localStorage.setItem(KEY, JSON.stringify(texts))
  } catch {
    // Kept for as long as the page lives.
  }
}
