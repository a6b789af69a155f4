const WIDTH = 24
/** A bar for what is over in a moment would only flicker. */
const SHOW_AFTER_MS = 400
const REDRAW_MS = 100

/** How far something has come, on a terminal alone, and gone when it is done. */
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream
  readonly #what: string
  readonly #startedAt = Date.now()
  #drawnAt = 0

  constructor(stream: NodeJS.WriteStream, what: string) {
    this.#stream = stream
    this.#what = what
  }

  show(done: number, total: number): void {
    const now = Date.now()
    if (!this.#stream.isTTY || now - this.#startedAt < SHOW_AFTER_MS || now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const full = Math.round(share * WIDTH)
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full)
    this.#stream.write(`\r\u001b[K${this.#what} ${bar} ${Math.floor(share * 100)} %  ${done} of ${total}`)
  }

  end(): void {
    if (this.#drawnAt > 0) this.#stream.write("\r\u001b[K")
  }
}
