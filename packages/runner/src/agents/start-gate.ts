import type { Clock } from "@signalbox/transport"
import { Refusal } from "../errors.ts"

export interface StartGateOptions {
  /** Between two starts. */
  readonly spacingMs: number
  readonly maxWaiting: number
  readonly clock: Clock
}

/** Starts one after the other: a machine that starts many agents at once does nothing else for a while. */
export class StartGate {
  readonly #options: StartGateOptions
  #nextAt = 0
  #waiting = 0

  constructor(options: StartGateOptions) {
    this.#options = options
  }

  async enter(): Promise<void> {
    const { clock, spacingMs, maxWaiting } = this.#options
    const now = clock.now()
    const at = Math.max(now, this.#nextAt)
    if (at > now && this.#waiting >= maxWaiting) {
      throw new Refusal("runner/full", `${maxWaiting} agents wait to be started on this runner: try again in a moment`)
    }
    this.#nextAt = at + spacingMs
    if (at === now) return
    this.#waiting++
    await new Promise<void>((resolve) => clock.after(at - now, resolve))
    this.#waiting--
  }
}
