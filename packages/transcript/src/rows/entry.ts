import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { JsonObject, PictureSource, Row, RowBase, TranscriptEvent } from "./row.ts"

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

  /** Makes the next look draw the row again. */
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

/** How many of a sorted list come first: as many as `isBefore` says so of. */
export function countBefore(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** The part of a row that is the same for every kind, if one event tells all of the row. */
export function baseOf({ seq, at, message }: TranscriptEvent, lane: string | null = null): RowBase {
  // A note of the hub's names the message that it is about.
  const uuid = message.type === "hub" ? undefined : textOf(message, "uuid")
  return { key: `e:${uuid ?? seq}`, headSeq: seq, lastSeq: seq, lane, at }
}

export function numberOf(value: unknown, name: string): number | undefined {
  const field = isObject(value) ? value[name] : undefined
  return typeof field === "number" ? field : undefined
}

/** Which events are loaded. Pages come in any order and may overlap; almost always the next one follows the last. */
export class SeqRanges {
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  /** False when it was there already. */
  add(seq: number): boolean {
    const index = this.#find(seq)
    const end = this.#ends[index]
    if (end !== undefined && seq <= end) return false
    const touchesBefore = end !== undefined && end + 1 === seq
    const touchesAfter = this.#starts[index + 1] === seq + 1
    if (touchesBefore && touchesAfter) {
      this.#ends.splice(index, 1)
      this.#starts.splice(index + 1, 1)
    } else if (touchesBefore) this.#ends[index] = seq
    else if (touchesAfter) this.#starts[index + 1] = seq
    else {
      this.#starts.splice(index + 1, 0, seq)
      this.#ends.splice(index + 1, 0, seq)
    }
    return true
  }

  /** Whether everything from one to the other is there. */
  isWhole(from: number, to: number): boolean {
    const index = this.#find(to)
    return (this.#starts[index] ?? Number.POSITIVE_INFINITY) <= from && to <= (this.#ends[index] ?? 0)
  }

  get last(): number {
    return this.#ends.at(-1) ?? 0
  }

  /** The last range that begins at or before it; -1: none. */
  #find(seq: number): number {
    const { length } = this.#starts
    if ((this.#starts.at(-1) ?? Number.POSITIVE_INFINITY) <= seq) return length - 1
    return countBefore(length, (index) => (this.#starts[index] ?? 0) <= seq) - 1
  }
}

export function pictureOf(block: JsonObject): PictureSource {
  const source = fieldOf(block, "source")
  const mediaType = textOf(source, "media_type") ?? "application/octet-stream"
  return { mediaType, ...given({ data: textOf(source, "data"), url: textOf(source, "url") }) }
}

/** The text of a message's content, whether it is one text or blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .filter(isObject)
    .flatMap((block) => (block["type"] === "text" ? (textOf(block, "text") ?? []) : []))
    .join("\n")
}

export function contentPictures(content: unknown): readonly PictureSource[] {
  if (!Array.isArray(content)) return []
  return content
    .filter(isObject)
    .filter((block) => block["type"] === "image")
    .map(pictureOf)
}
