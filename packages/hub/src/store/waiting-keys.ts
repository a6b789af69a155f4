const FIRST_CAPACITY = 128
const NONE = -1

/**
 * Keys that are not in the index yet: a hash table on plain arrays of numbers, since an object or a boxed number for every
 * event would be the collector's main work.
 */
export class WaitingKeys {
  #capacity = FIRST_CAPACITY
  #size = 0
  #sessions = new Float64Array(FIRST_CAPACITY)
  #slots = new Float64Array(FIRST_CAPACITY)
  #seqs = new Float64Array(FIRST_CAPACITY)
  /** The entry before it in the same bucket. */
  #previous = new Int32Array(FIRST_CAPACITY)
  /** The last entry of each. There are as many buckets as there is room for entries, a power of two. */
  #buckets = new Int32Array(FIRST_CAPACITY).fill(NONE)

  get size(): number {
    return this.#size
  }

  add(session: number, slot: number, seq: number): void {
    if (this.#size === this.#capacity) this.#grow()
    const entry = this.#size++
    this.#sessions[entry] = session
    this.#slots[entry] = slot
    this.#seqs[entry] = seq
    this.#link(entry)
  }

  has(session: number, slot: number): boolean {
    return this.#find(session, slot, this.#lastOf(slot)) !== NONE
  }

  /** Sequence numbers of the events whose keys have this slot. */
  seqsOf(session: number, slot: number): readonly number[] {
    const seqs: number[] = []
    let entry = this.#find(session, slot, this.#lastOf(slot))
    while (entry !== NONE) {
      seqs.push(this.#seqs[entry] ?? 0)
      entry = this.#find(session, slot, this.#previous[entry] ?? NONE)
    }
    return seqs
  }

  /** Session, slot and seq of each from one to before another, in the order they came. */
  rows(from: number, to: number): number[] {
    const rows: number[] = []
    for (let entry = from; entry < to; entry++) {
      rows.push(this.#sessions[entry] ?? 0, this.#slots[entry] ?? 0, this.#seqs[entry] ?? 0)
    }
    return rows
  }

  /** The same keys but for those of one session. */
  without(session: number): WaitingKeys {
    const others = new WaitingKeys()
    for (let entry = 0; entry < this.#size; entry++) {
      const owner = this.#sessions[entry] ?? 0
      if (owner !== session) others.add(owner, this.#slots[entry] ?? 0, this.#seqs[entry] ?? 0)
    }
    return others
  }

  /** The slot's low bits: it is a hash. */
  #bucketOf(slot: number): number {
    return slot & (this.#capacity - 1)
  }

  #lastOf(slot: number): number {
    return this.#buckets[this.#bucketOf(slot)] ?? NONE
  }

  #find(session: number, slot: number, from: number): number {
    let entry = from
    while (entry !== NONE && (this.#slots[entry] !== slot || this.#sessions[entry] !== session)) {
      entry = this.#previous[entry] ?? NONE
    }
    return entry
  }

  #link(entry: number): void {
    const bucket = this.#bucketOf(this.#slots[entry] ?? 0)
    this.#previous[entry] = this.#buckets[bucket] ?? NONE
    this.#buckets[bucket] = entry
  }

  #grow(): void {
    this.#capacity *= 2
    this.#sessions = grown(this.#sessions)
    this.#slots = grown(this.#slots)
    this.#seqs = grown(this.#seqs)
    this.#previous = new Int32Array(this.#capacity)
    this.#buckets = new Int32Array(this.#capacity).fill(NONE)
    for (let entry = 0; entry < this.#size; entry++) this.#link(entry)
  }
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2)
  larger.set(values)
  return larger
}
