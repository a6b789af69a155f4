/** Frames in memory with dense numbers, oldest first, with their size. */
export class FrameQueue {
  #frames: string[] = []
  /** How many at the beginning are gone already; they are let go in bulk. */
  #gone = 0
  /** The number of the oldest. */
  #first = 1
  #bytes = 0

  /** Characters, which is near enough: the bound is about memory. */
  get bytes(): number {
    return this.#bytes
  }

  push(number: number, frame: string): void {
    if (this.#frames.length === this.#gone) this.#first = number
    this.#frames.push(frame)
    this.#bytes += frame.length
  }

  /** Lets go of all up to this number. */
  dropTo(number: number): void {
    this.dropOldest(number - this.#first + 1)
  }

  dropOldest(count: number): void {
    for (let dropped = 0; dropped < count && this.#gone < this.#frames.length; dropped++) {
      this.#bytes -= this.#frames[this.#gone]?.length ?? 0
      // Overwritten and not only skipped, so that the text is free now and not when the array is cut.
      this.#frames[this.#gone++] = ""
      this.#first++
    }
    if (this.#gone < 256 || this.#gone * 2 < this.#frames.length) return
    this.#frames = this.#frames.slice(this.#gone)
    this.#gone = 0
  }

  oldest(maxBytes: number): string[] {
    return this.#from(this.#gone, maxBytes)
  }

  /** The frames after this number. */
  after(number: number, maxBytes: number): string[] {
    return this.#from(this.#gone + Math.max(0, number - this.#first + 1), maxBytes)
  }

  /** At least one if there is one, then as many as fit. */
  #from(start: number, maxBytes: number): string[] {
    let end = start
    for (let bytes = 0; end < this.#frames.length && bytes < maxBytes; end++) bytes += this.#frames[end]?.length ?? 0
    return this.#frames.slice(start, end)
  }
}

/** The number of a line or note as it travels: `L17 {…}`. */
export function frameNumber(frame: string): number {
  return Number(frame.slice(1, frame.indexOf(" ")))
}
