import { createHash } from "node:crypto"
import { HubError } from "../../errors.ts"
import type { MovedRow, MovedTable, MovedValue } from "./moved-tables.ts"

/** One of the two stores that data is moved between. Its hub does not run. */
export interface StoreEnd {
  /** Something that is another one as soon as another store, or more, is there. */
  fingerprint(): Promise<string>
  /** Rows of a table after a place, in the order of their keys, no more than fit in memory. None: there are no more. */
  page(table: MovedTable, after: readonly MovedValue[] | undefined): Promise<readonly MovedRow[]>
  count(table: MovedTable): Promise<number>
  close(): Promise<void>
}

/** The one that data is moved to. */
export interface TargetEnd extends StoreEnd {
  /** The fingerprint of the store that was being copied to this one and did not get there; undefined if this one is empty. Refuses others. */
  begun(): Promise<string | undefined>
  /** Empties it, and notes whose copy it is. */
  begin(fingerprint: string): Promise<void>
  /** The key of the last row. */
  last(table: MovedTable): Promise<readonly MovedValue[] | undefined>
  clear(table: MovedTable): Promise<void>
  /** All of them or none. */
  add(table: MovedTable, rows: readonly MovedRow[]): Promise<void>
  /** Makes it a store that a hub can use. */
  finish(): Promise<void>
}

/** Rows read at once, unless they are long. */
export const PAGE_ROWS = 500
const PAGE_BYTES = 4 * 1024 * 1024

/** How many rows of these lengths are read at once: one at least. */
export function rowsThatFit(lengths: readonly number[]): number {
  let bytes = 0
  const fitting = lengths.findIndex((length, at) => {
    bytes += length
    return bytes > PAGE_BYTES && at > 0
  })
  return fitting === -1 ? lengths.length : fitting
}

export function keyOf(table: MovedTable, row: MovedRow): readonly MovedValue[] {
  return table.keys.map((key) => row[key] ?? null)
}

/** How many rows there were, and what they were, in whatever order they came. */
export class Digest {
  count = 0
  readonly #sum = Buffer.alloc(32)

  take(table: MovedTable, row: MovedRow): void {
    const text = JSON.stringify(table.columns.map(([column]) => row[column] ?? null))
    const hash = createHash("sha256").update(text).digest()
    for (const [at, byte] of hash.entries()) this.#sum.writeUInt8(this.#sum.readUInt8(at) ^ byte, at)
    this.count++
  }

  equals(other: Digest): boolean {
    return this.count === other.count && this.#sum.equals(other.#sum)
  }
}

/** A store that is not empty, and no copy that was interrupted. */
export function notEmpty(place: string): HubError {
  return new HubError("data/taken", `${place} has a hub's data already, and nothing is overwritten: name an empty one`)
}
