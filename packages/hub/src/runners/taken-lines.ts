/** Past this many numbers after the last event, a sentence is not kept back for its end any more. */
const MAX_KEPT_BACK = 2_000

/**
 * How far a hub has got with the numbered lines of one process: what it took, and what it may acknowledge. It outlives the
 * connection, so that what the runner sends again to the same hub is not taken twice.
 */
export class TakenLines {
  #taken = 0
  /** The last number that is no piece of a sentence. */
  #whole = 0
  #durable = 0
  #acknowledged = 0
  #isToldAgain = false

  /** Numbers only go up: one that is not above the last was here before. */
  isNew(number: number): boolean {
    return number > this.#taken
  }

  took(number: number, isWhole: boolean): void {
    this.#taken = Math.max(this.#taken, number)
    if (isWhole) this.#whole = Math.max(this.#whole, number)
  }

  /** What was taken and is not durable will never be: it must be taken again. */
  goBack(): void {
    this.#taken = this.#durable
    this.#whole = Math.min(this.#whole, this.#durable)
  }

  /** The runner is here again, and may have missed the last acknowledgement. */
  begin(): void {
    this.#isToldAgain = this.#acknowledged > 0
  }

  /** The number up to which everything must be durable now; undefined when there is nothing to tell. */
  get due(): number | undefined {
    return this.#taken > this.#durable || this.#isToldAgain ? this.#taken : undefined
  }

  /** All up to this number is durable. The number to acknowledge, if there is one. */
  settled(upTo: number, isInSentence: boolean): number | undefined {
    this.#durable = Math.max(this.#durable, upTo)
    const mayKeepBack = isInSentence && upTo - this.#whole <= MAX_KEPT_BACK
    const ack = Math.max(this.#acknowledged, mayKeepBack ? Math.min(this.#whole, upTo) : upTo)
    if (ack === this.#acknowledged && !this.#isToldAgain) return undefined
    this.#isToldAgain = false
    this.#acknowledged = ack
    return ack
  }
}
