import { createValueStore } from "./value-store.ts"

/** More than anybody reads: what comes after is shown all the same, and not counted. */
const MAX_COUNTED = 10_000
/** The same event comes and goes with scrolling: it counts once. */
const counted = new Set<string>()

/** By kind, how many events of it were shown here that this version does not know, since the page was opened. */
export const unknownEvents = createValueStore<ReadonlyMap<string, number>>(new Map())

export function noteUnknownEvent(kind: string, id: string): void {
  if (counted.has(id) || counted.size >= MAX_COUNTED) return
  counted.add(id)
  const all = unknownEvents.get()
  unknownEvents.set(new Map([...all, [kind, (all.get(kind) ?? 0) + 1]]))
}
