import { deflateSync, inflateSync } from "node:zlib"

/** @typedef {{ readonly seq: number, readonly line: string }} NumberedLine */

/** A block holds at most one line of a MiB; a damaged one must not fill the memory. */
const MAX_UNPACKED_BYTES = 4 * 1024 * 1024
const HEAD_END = 0x0a

/**
 * Lines of one session as bytes: a head in JSON, with the steps between their numbers and the length of each, and the lines one
 * after the other. zlib's format ends with a checksum, so damage is noticed.
 * @param {readonly NumberedLine[]} lines
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function packLines(lines) {
  const texts = lines.map(({ line }) => Buffer.from(line))
  const steps = lines.map(({ seq }, index) => seq - (lines[index - 1]?.seq ?? 0))
  const head = JSON.stringify([steps, texts.map(({ length }) => length)])
  // A copy of its own: what zlib gives may be a piece of a larger buffer, which cannot be handed to another thread.
  return Uint8Array.from(deflateSync(Buffer.concat([Buffer.from(`${head}\n`), ...texts])))
}

/** A block, unpacked. Only lines that are asked for become strings. */
export class LineBlock {
  #bytes
  /** Where each line begins and ends. @type {Map<number, readonly [begin: number, end: number]>} */
  #places = new Map()

  /** Throws if it is damaged. @param {Uint8Array} packed */
  constructor(packed) {
    this.#bytes = inflateSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES })
    const headEnd = this.#bytes.indexOf(HEAD_END)
    /** @type {[readonly number[], readonly number[]]} */
    const [steps, lengths] = JSON.parse(this.#bytes.toString("utf8", 0, headEnd))
    let seq = 0
    let end = headEnd + 1
    for (const [index, step] of steps.entries()) {
      const begin = end
      seq += step
      end += lengths[index] ?? Number.NaN
      this.#places.set(seq, [begin, end])
    }
    if (end !== this.#bytes.length) throw new Error("its lines are not as long as its head says")
  }

  get bytes() {
    return this.#bytes.length
  }

  /** @param {number} seq */
  line(seq) {
    const place = this.#places.get(seq)
    return place && this.#bytes.toString("utf8", ...place)
  }
}
