import type { Transport } from "@signalbox/transport"

// Few enough that they die young: lines that outlive a sweep of the young generation cost a third of a flood.
const FULL_AT = 512

/**
 * The lines an agent has said and its transport has not taken yet. Saying is never awaited, so that what belongs
 * together stays together; whoever says a great deal waits for `room` now and then, and that bounds memory.
 */
export class Outbox {
  readonly #transport: Transport
  #waiting: string[] = []
  #pumping: Promise<void> | undefined
  #isMuted = false
  #hasGivenUp = false
  readonly #wakers = new Set<() => void>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Nothing more goes out. */
  mute(): void {
    this.#isMuted = true
  }

  push(line: string): void {
    if (this.#isMuted) return
    this.#waiting.push(line)
    this.#pumping ??= this.#pump()
  }

  get isFull(): boolean {
    return this.#waiting.length > FULL_AT
  }

  /** Resolves when everything said so far is gone, or can never go. */
  async drained(): Promise<void> {
    while (this.#pumping !== undefined && !this.#hasGivenUp) await this.#next(this.#pumping)
  }

  /** For one that is told to go: a host that does not read keeps it no longer than this. */
  giveUpAfter(ms: number): void {
    const timer = setTimeout(() => {
      this.#hasGivenUp = true
      for (const wake of this.#wakers) wake()
    }, ms)
    void this.drained().then(() => clearTimeout(timer))
  }

  /** The end of this pumping, or of all patience. */
  #next(pumping: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake)
        resolve()
      }
      this.#wakers.add(wake)
      void pumping.then(wake)
    })
  }

  async #pump(): Promise<void> {
    // Lets the lines of one step gather: a transport that batches gets them together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const lines = this.#waiting
      this.#waiting = []
      try {
        await this.#sendAll(lines)
      } catch {
        // Nobody listens any more. The agent goes on, as a CLI does whose output is closed.
        this.#waiting = []
      }
    }
    this.#pumping = undefined
  }

  /** A transport that need not be waited for gives the same promise every time: that one is waited for once. */
  async #sendAll(lines: readonly string[]): Promise<void> {
    let settled: Promise<void> | undefined
    for (const line of lines) {
      const taken = this.#transport.send(line)
      if (taken === settled) continue
      await taken
      settled = taken
    }
  }
}
