import { LineBlock } from "./line-block.js"

/**
 * Reads one row; an empty one when there is none.
 * @typedef {(sql: string, values: readonly number[]) => readonly unknown[]} ReadRow
 */

/** The size of an event's line, wherever the line is. Lengths are in the rows' headers, so long lines are not loaded to be counted. */
export const LINE_BYTES = "CASE typeof(line) WHEN 'integer' THEN line ELSE octet_length(line) END"

const PLACE = `SELECT id, first_seq, last_seq FROM event_blocks
  WHERE session = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1`
const BODY = "SELECT body FROM event_blocks WHERE id = ?"
/** Unpacked blocks that are kept: whoever reads a session page by page meets each block several times. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024

/** @typedef {{ readonly id: number, readonly first: number, readonly last: number }} Place */

/** A line that is not where its event says. */
export class DamagedBlock extends Error {
  /** @param {Place} place @param {unknown} [cause] */
  constructor({ id, first, last }, cause) {
    super(id === 0 ? `the block of event ${first}` : `block ${id} (events ${first} to ${last})`, { cause })
  }
}

/** The lines of compressed events, by the number of their session in the log. */
export class ColdLines {
  #readRow
  /** The one used last is at the end. @type {Map<number, LineBlock>} */
  #blocks = new Map()
  #bytes = 0

  /** @param {ReadRow} readRow */
  constructor(readRow) {
    this.#readRow = readRow
  }

  /**
   * Throws a DamagedBlock if one of them cannot be read.
   * @param {number} session
   * @param {readonly number[]} seqs neighbours in their order, so that a block is looked for once
   * @returns {ReadonlyMap<number, string>}
   */
  lines(session, seqs) {
    /** @type {Map<number, string>} */
    const lines = new Map()
    /** @type {Place} */
    let place = { id: 0, first: 0, last: -1 }
    /** @type {LineBlock | undefined} */
    let block
    for (const seq of seqs) {
      if (seq < place.first || seq > place.last) {
        place = this.#placeOf(session, seq)
        block = this.#open(place)
      }
      const line = block?.line(seq)
      if (line === undefined) throw new DamagedBlock(place)
      lines.set(seq, line)
    }
    return lines
  }

  /** Undefined if it cannot be read: those who use it can do without. @param {number} session @param {number} seq */
  tryLine(session, seq) {
    try {
      return this.lines(session, [seq]).get(seq)
    } catch (error) {
      if (error instanceof DamagedBlock) return undefined
      throw error
    }
  }

  /** @param {number} session @param {number} seq @returns {Place} */
  #placeOf(session, seq) {
    const [id, first, last] = this.#readRow(PLACE, [session, seq]).map(Number)
    if (id === undefined || first === undefined || last === undefined || last < seq) {
      throw new DamagedBlock({ id: 0, first: seq, last: seq })
    }
    return { id, first, last }
  }

  /** @param {Place} place */
  #open(place) {
    const known = this.#blocks.get(place.id)
    const block = known ?? this.#unpack(place)
    if (known === undefined) this.#bytes += block.bytes
    this.#blocks.delete(place.id)
    this.#blocks.set(place.id, block)
    this.#makeRoom()
    return block
  }

  /** @param {Place} place */
  #unpack(place) {
    try {
      const [body] = this.#readRow(BODY, [place.id])
      if (!(body instanceof Uint8Array)) throw new Error("it is not there")
      return new LineBlock(body)
    } catch (error) {
      throw new DamagedBlock(place, error)
    }
  }

  #makeRoom() {
    for (const [id, { bytes }] of this.#blocks) {
      if (this.#bytes <= MAX_KEPT_BYTES || this.#blocks.size === 1) return
      this.#blocks.delete(id)
      this.#bytes -= bytes
    }
  }
}
