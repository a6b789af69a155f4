import type { Transport } from "@signalbox/transport"

const FULL_AT = 4096

/**
 * The lines an agent has said and its transport has not taken yet. Saying is never awaited, so that what belongs
 * together stays together; whoever says a great deal waits for `room` now and then, and that bounds memory.
 */
export class Outbox {
  readonly #transport: Transport
  #waiting: string[] = []
  #pumping: Promise<void> | undefined

  constructor(transport: Transport) {
    this.#transport = transport
  }

  push(line: string): void {
    this.#waiting.push(line)
    this.#pumping ??= this.#pump()
  }

  get isFull(): boolean {
    return this.#waiting.length > FULL_AT
  }

  /** Resolves when everything said so far is gone, or can never go. */
  async drained(): Promise<void> {
    while (this.#pumping !== undefined) await this.#pumping
  }

  async #pump(): Promise<void> {
    // Lets the lines of one step gather: a transport that batches gets them together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const lines = this.#waiting
      this.#waiting = []
      try {
        for (const line of lines) await this.#transport.send(line)
      } catch {
        // Nobody listens any more. The agent goes on, as a CLI does whose output is closed.
        this.#waiting = []
      }
    }
    this.#pumping = undefined
  }
}
