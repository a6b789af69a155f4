import type { Randomness } from "../randomness.ts"

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/**
 * The ids of a recording, and those that stand for them now: two replays at once must not say the same ones. Only what is
 * known to be an id is replaced, wherever it stands; a text that happens to look like one is kept.
 */
export class LiveIds {
  readonly #live = new Map<string, string>()
  readonly #random: Randomness

  constructor(random: Randomness) {
    this.#random = random
  }

  learn(recorded: string, live: string): void {
    this.#live.set(recorded, live)
  }

  of(recorded: string): string {
    const known = this.#live.get(recorded)
    if (known !== undefined) return known
    const fresh = this.#random.uuid()
    this.#live.set(recorded, fresh)
    return fresh
  }

  rewrite(line: string): string {
    return line.replaceAll(UUID, (id) => this.#live.get(id) ?? id)
  }
}
