const local = () => localStorage
/** The tab's own, which goes with it. */
export const ofTab = () => sessionStorage

/** The browser's value under a name, as JSON; undefined where there is nothing, or nothing that can be read. */
export function readStored(key: string, place: () => Storage = local): unknown {
  try {
    return JSON.parse(place().getItem(key) ?? "null") ?? undefined
  } catch {
    return undefined
  }
}

export function readTexts(key: string, place?: () => Storage): readonly string[] {
  const kept = readStored(key, place)
  return Array.isArray(kept) ? kept.filter((text): text is string => typeof text === "string") : []
}

/** A browser can be told to keep nothing: then it is there for as long as the page lives. */
export function keepStored(key: string, value: unknown, place: () => Storage = local): void {
  try {
    place().setItem(key, JSON.stringify(value))
  } catch {
    // Nothing more can be done.
  }
}
