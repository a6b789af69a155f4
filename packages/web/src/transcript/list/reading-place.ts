/** Where somebody stopped reading: at the end and going along with it, or with a row so far below the top of the view. */
export type ReadingPlace =
  | { readonly at: "end" }
  | { readonly at: "row"; readonly key: string; readonly seq: number; readonly offsetPx: number }

/** The row that was read, and in which of the history's entries. */
interface ReadingSpot {
  readonly entry: string
  readonly session: string
  readonly lane: string | null
}

/** Reading places of the last few sessions, for Back. The most recent one is last. */
const kept = new Map<string, ReadingSpot & { readonly place: ReadingPlace }>()
const MAX_KEPT = 50

function nameOf({ entry, session, lane }: ReadingSpot): string {
  return JSON.stringify([entry, session, lane])
}

export function keepPlace(spot: ReadingSpot, place: ReadingPlace): void {
  const name = nameOf(spot)
  kept.delete(name)
  kept.set(name, { ...spot, place })
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

export function keptPlace(spot: ReadingSpot): ReadingPlace | undefined {
  return kept.get(nameOf(spot))?.place
}

/** Who is there again will leave from another place. */
export function forgetPlace(spot: ReadingSpot): void {
  kept.delete(nameOf(spot))
}

/** For a way back that is none of the browser's: where this was left last becomes the place of another entry. False: it was not. */
export function carryPlace({ entry, session, lane }: ReadingSpot): boolean {
  const last = [...kept.values()].findLast((one) => one.session === session && one.lane === lane)
  if (last === undefined || last.place.at === "end") return false
  keepPlace({ entry, session, lane }, last.place)
  return true
}
