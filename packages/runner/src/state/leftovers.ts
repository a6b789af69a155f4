import type { RunnerLog } from "../log-tail.ts"
import type { AgentRecord } from "./state-file.ts"
import { sweep } from "./sweep.ts"

export interface LeftoversOptions {
  readonly killAfterMs: number
  readonly log: RunnerLog
}

/** Ends what agents that are over left running. Each look is at the whole machine, so those that end together share one. */
export class Leftovers {
  readonly #options: LeftoversOptions
  #due: AgentRecord[] = []
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: LeftoversOptions) {
    this.#options = options
  }

  /** Resolves when nothing of it is left, or could not be ended. */
  end(record: AgentRecord): Promise<void> {
    this.#due.push(record)
    this.#next ??= this.#last.then(() => this.#sweep())
    return this.#next
  }

  async #sweep(): Promise<void> {
    const { killAfterMs, log } = this.#options
    const records = this.#due
    this.#due = []
    this.#last = this.#next ?? this.#last
    this.#next = undefined
    try {
      const lived = await sweep(records, { killAfterMs, haveJustEnded: true })
      if (lived.size > 0) log.info({ spawns: [...lived] }, "ended what agents had left running")
    } catch (error) {
      log.error({ err: error }, "what agents left running could not be looked for")
    }
  }
}
