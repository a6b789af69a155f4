/** The source of ids and jitter; one seed gives the same ones in every run. */
export interface Randomness {
  /** From 0 up to, and without, 1. */
  number(): number
  uuid(): string
  hex(digits: number): string
  base36(digits: number): string
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** mulberry32: small, fast, and good enough for ids that only have to differ. */
const STEP = 0x6d2b79f5

function mix(state: number): number {
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return (mixed ^ (mixed >>> 14)) >>> 0
}

/** One step of the generator, with its state as a value, for functions that are to stay pure. */
export function draw(state: number): { state: number; number: number } {
  const next = (state + STEP) >>> 0
  return { state: next, number: mix(next) / 0x1_0000_0000 }
}

export function createRandomness(seed: number = Math.floor(Math.random() * 0x1_0000_0000)): Randomness {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + STEP) >>> 0
    return mix(state)
  }
  const bytes = (word: number) =>
    `${HEX[word >>> 24]}${HEX[(word >>> 16) & 0xff]}${HEX[(word >>> 8) & 0xff]}${HEX[word & 0xff]}`
  const hex = (digits: number): string => {
    let text = ""
    while (text.length < digits) text += bytes(next())
    return text.slice(0, digits)
  }
  return {
    number: () => next() / 0x1_0000_0000,
    // One for each of a flood of deltas: bits, and no text in between.
    uuid() {
      const [b, c] = [(next() & 0xffff0fff) | 0x4000, (next() & 0x3fffffff) | 0x80000000]
      const middle = `${HEX[(b >>> 24) & 0xff]}${HEX[(b >>> 16) & 0xff]}-${HEX[(b >>> 8) & 0xff]}${HEX[b & 0xff]}`
      const end = `${HEX[(c >>> 24) & 0xff]}${HEX[(c >>> 16) & 0xff]}-${HEX[(c >>> 8) & 0xff]}${HEX[c & 0xff]}`
      return `${bytes(next())}-${middle}-${end}${bytes(next())}`
    },
    hex,
    base36: (digits) => Array.from({ length: digits }, () => (next() % 36).toString(36)).join(""),
  }
}
