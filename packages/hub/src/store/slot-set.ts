const FIRST_CAPACITY = 64
const EMPTY = 0

/** A set of slots on a plain array of numbers: a `Set` would box every one of them. Nothing is ever taken out. */
export class SlotSet {
  #size = 0
  /** Each is one more than the slot, so that none is empty. Never more than half full. */
  #places = new Float64Array(FIRST_CAPACITY)

  get size(): number {
    return this.#size
  }

  has(slot: number): boolean {
    return this.#places[this.#placeOf(slot + 1)] !== EMPTY
  }

  add(slot: number): void {
    if (this.#size * 2 >= this.#places.length) this.#grow()
    const place = this.#placeOf(slot + 1)
    if (this.#places[place] !== EMPTY) return
    this.#places[place] = slot + 1
    this.#size++
  }

  /** Where the value is, or the empty place where it belongs. */
  #placeOf(value: number): number {
    const mask = this.#places.length - 1
    let place = value & mask
    for (let found = this.#places[place]; found !== EMPTY && found !== value; found = this.#places[place]) {
      place = (place + 1) & mask
    }
    return place
  }

  #grow(): void {
    const before = this.#places
    this.#places = new Float64Array(before.length * 2)
    for (const value of before) if (value !== EMPTY) this.#places[this.#placeOf(value)] = value
  }
}
