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
    let [low, high] = [0, this.#starts.length]
    if ((this.#starts.at(-1) ?? Number.POSITIVE_INFINITY) <= seq) return high - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#starts[middle] ?? 0) <= seq) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
