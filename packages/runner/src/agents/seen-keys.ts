/** The last so many keys. */
export class SeenKeys {
  readonly #max: number
  readonly #keys = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** False if it was there already. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    if (this.#keys.size > this.#max) {
      // A Set keeps the order of insertion: the first is the oldest.
      for (const oldest of this.#keys) {
        this.#keys.delete(oldest)
        break
      }
    }
    return true
  }

  delete(key: string): void {
    this.#keys.delete(key)
  }
}
