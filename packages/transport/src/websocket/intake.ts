import { LineQueue } from "../line-queue.ts"
import { Waker } from "../pacing.ts"

/** Where lines come from, as far as it can be made to wait. */
export interface PausableLink {
  pause(): void
  resume(): void
}

/**
 * A peer's lines that nobody has read yet. A reader that is behind stops the link the lines come from; one link
 * after another may bring them.
 */
export class Intake {
  readonly lines: LineQueue
  #link: PausableLink | undefined
  /** "closing": our goodbye is under way, and nothing may hold it up. */
  #state: "flowing" | "full" | "closing" | "ended" = "flowing"
  readonly #room = new Waker()

  constructor(highWaterChars: number) {
    this.lines = new LineQueue({ highWaterChars, onRoom: () => this.#onRoom() })
  }

  attach(link: PausableLink): void {
    this.#link = link
    if (this.#state === "full") link.pause()
  }

  /** False when the lines were not taken: no more are. */
  take(lines: readonly string[]): boolean {
    if (this.#state === "ended") return false
    if (this.lines.push(lines)) return true
    if (this.#state === "closing") {
      this.end()
    } else {
      this.#state = "full"
      this.#link?.pause()
    }
    return true
  }

  /** Resolves when the reader has kept up, or no more is taken. */
  async room(): Promise<void> {
    if (this.#state === "full") await this.#room.wait()
  }

  /** Lines that the peer wrote before it sees our goodbye are still taken, unless nobody reads them. */
  close(): void {
    if (this.#state === "full") this.end()
    else if (this.#state === "flowing") this.#state = "closing"
  }

  /** No more is taken. What waits is still read. */
  end(): void {
    this.#state = "ended"
    this.lines.end()
    this.#room.wake()
  }

  #onRoom(): void {
    if (this.#state !== "full") return
    this.#state = "flowing"
    this.#link?.resume()
    this.#room.wake()
  }
}
