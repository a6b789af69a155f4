import type { Envelope } from "@signalbox/protocol"

const MAX_HELD = 2_000

interface Held {
  readonly line: string
  readonly message: Envelope
}

/**
 * After a reconnect some CLIs send all they kept again, deltas too. Deltas are held back until the replay is over: those
 * before an event that the log has, or that is complete by now, are dropped; what is left is the sentence in progress.
 */
export class ReplayFilter {
  #held: Held[] | undefined

  begin(): void {
    this.#held = []
  }

  holds(message: Envelope, line: string): boolean {
    if (this.#held === undefined) return false
    if (this.#held.length < MAX_HELD) this.#held.push({ message, line })
    return true
  }

  /** An event came. It is whole, so the deltas before it are of no more use. */
  sawEvent(): void {
    if (this.#held !== undefined) this.#held = []
  }

  end(): readonly Held[] {
    const held = this.#held ?? []
    this.#held = undefined
    return held
  }
}
