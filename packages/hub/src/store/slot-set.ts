/** Most sessions are short: there may be as many sets as there are sessions. */
const FIRST_PLACES = 8
const EMPTY = 0
/** A set's own objects and its entry in the map, in places of 8 bytes. */
const PLACES_PER_SET = 32
/** A session with more slots is not kept. All sets together take no more than 16 MB. */
const MAX = { slotsOfSession: 131_072, places: 2_097_152 } as const
/** Room is made for many at once: to find the oldest entry of a map, those that were deleted before it are gone through. */
const PLACES_AFTER_MAKING_ROOM = (MAX.places * 7) / 8

/**
 * All slots of some sessions, which need not be looked up then. Whatever it does not know, the index does: when there is no
 * room, the sessions that came first are forgotten.
 */
export class KnownSlots {
  readonly #sets = new Map<number, SlotSet>()
  #places = 0

  /** All slots of the session. Undefined: it is not known here. */
  of(session: number): { has(slot: number): boolean } | undefined {
    return this.#sets.get(session)
  }

  /** The session has no slot yet. All it gets are added. */
  begin(session: number): void {
    this.forget(session)
    const slots = new SlotSet()
    this.#sets.set(session, slots)
    this.#places += slots.places + PLACES_PER_SET
    this.#makeRoom()
  }

  add(session: number, slot: number): void {
    const slots = this.#sets.get(session)
    if (slots === undefined) return
    const before = slots.places
    slots.add(slot)
    this.#places += slots.places - before
    if (slots.size >= MAX.slotsOfSession) this.forget(session)
    else if (slots.places > before) this.#makeRoom()
  }

  forget(session: number): void {
    const slots = this.#sets.get(session)
    if (slots === undefined) return
    this.#sets.delete(session)
    this.#places -= slots.places + PLACES_PER_SET
  }

  clear(): void {
    this.#sets.clear()
    this.#places = 0
  }

  #makeRoom(): void {
    if (this.#places <= MAX.places) return
    for (const session of this.#sets.keys()) {
      this.forget(session)
      if (this.#places <= PLACES_AFTER_MAKING_ROOM) return
    }
  }
}

/** A set of slots on a plain array of numbers: a `Set` would box every one of them. Nothing is ever taken out. */
class SlotSet {
  #size = 0
  /** Each is one more than the slot, so that none is empty. Never more than half full. */
  #places = new Float64Array(FIRST_PLACES)

  get size(): number {
    return this.#size
  }

  /** Numbers that it has room for. */
  get places(): number {
    return this.#places.length
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
