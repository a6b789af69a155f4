import type { Ask, HubEvent } from "@signalbox/client"
import type { Colours } from "../terminal/output.ts"
import { timeOfDay } from "../terminal/text.ts"
import { whyText } from "../terminal/why-text.ts"

const MAX_KEPT = 1_000

/** Why the rules had questions asked or settled them: each once, behind the event that asks. */
export class LogReasons {
  /** Asks by their event. */
  readonly #asks: Map<number, Ask>
  /** Questions that were shown before the hub told of their asks. */
  readonly #shown = new Set<number>()
  readonly #colours: Colours

  constructor(asks: readonly Ask[], colours: Colours) {
    // The hub tells the newest first, and the oldest are forgotten first.
    this.#asks = new Map(asks.toReversed().map((ask) => [ask.seq, ask]))
    this.#colours = colours
  }

  /** Lines to show behind an event. */
  ofEvent({ seq, from, message }: HubEvent): readonly string[] {
    if (from !== "agent" || message.type !== "control_request") return []
    const ask = this.#asks.get(seq)
    if (ask !== undefined) return this.#lines(ask)
    this.#shown.add(seq)
    forgetOldest(this.#shown)
    return []
  }

  /** Lines to show when the hub tells of an ask. */
  ofAsk(ask: Ask): readonly string[] {
    if (this.#shown.delete(ask.seq)) return this.#lines(ask)
    this.#asks.set(ask.seq, ask)
    forgetOldest(this.#asks)
    return []
  }

  #lines(ask: Ask): readonly string[] {
    const { dim } = this.#colours
    return whyText(ask, this.#colours).map((line, index) =>
      dim(index === 0 ? `${timeOfDay(ask.askedAt)} why: ${line}` : `         ${line}`),
    )
  }
}

function forgetOldest(entries: Map<number, unknown> | Set<number>): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_KEPT) return
    entries.delete(oldest)
  }
}
