import type { Row } from "./row.ts"

export interface Place {
  seq: number
  /** Within one event: an assistant message may hold several blocks. */
  pos: number
  lane: string | null
}

/** One place in the transcript: what it shows is drawn when somebody looks, from facts that may still come. */
export class Entry implements Place {
  seq: number
  pos: number
  lane: string | null
  readonly #draw: (entry: Entry) => Row | undefined
  #row: Row | undefined
  #isFresh = false

  constructor(place: Place, draw: (entry: Entry) => Row | undefined) {
    this.seq = place.seq
    this.pos = place.pos
    this.lane = place.lane
    this.#draw = draw
  }

  /** Undefined: nothing to show. */
  get row(): Row | undefined {
    if (!this.#isFresh) this.#row = this.#draw(this)
    this.#isFresh = true
    return this.#row
  }

  /** What it shows has to be drawn again. */
  fade(): void {
    this.#isFresh = false
  }
}

export function byPlace(a: Place, b: Place): number {
  return a.seq - b.seq || a.pos - b.pos
}

/** The fields that are there, for types whose optional fields are absent rather than undefined. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Partial<T> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is undefined was left out just above
  return kept as { [K in keyof T]?: Exclude<T[K], undefined> }
}

export function numberOf(value: unknown, name: string): number | undefined {
  if (typeof value !== "object" || value === null || !(name in value)) return undefined
  const field = Reflect.get(value, name)
  return typeof field === "number" ? field : undefined
}
