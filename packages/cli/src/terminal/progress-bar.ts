const WIDTH = 24
/** A bar that is done in a moment would only flicker. */
const SHOW_AFTER_MS = 400
const REDRAW_MS = 100

/** Progress, on a terminal only, and removed when done. */
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream
  readonly #what: string
  readonly #startedAt = Date.now()
  readonly #words: (amount: number) => string
  #drawnAt = 0

  constructor(stream: NodeJS.WriteStream, what: string, words: (amount: number) => string = String) {
    this.#stream = stream
    this.#what = what
    this.#words = words
  }

  show(done: number, total: number): void {
    const now = Date.now()
    if (!this.#stream.isTTY || now - this.#startedAt < SHOW_AFTER_MS || now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const full = Math.round(share * WIDTH)
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full)
    const amount = `${this.#words(done)} of ${this.#words(total)}`
    this.#stream.write(`\r\u001b[K${this.#what} ${bar} ${Math.floor(share * 100)} %  ${amount}`)
  }

  end(): void {
    if (this.#drawnAt > 0) this.#stream.write("\r\u001b[K")
  }
}
