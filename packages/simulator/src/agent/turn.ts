import type { Batch } from "../wire/message-queue.ts"
import type { AgentCore } from "./core.ts"

/**
 * A turn that is to run, and can be broken into before it does. What it takes to play one is loaded with the first: the
 * better part of an agent, which it need not have to answer its host.
 */
export class Turn {
  readonly #core: AgentCore
  readonly #messages: Batch
  readonly #abort = new AbortController()
  #saysInterruption = true

  constructor(core: AgentCore, messages: Batch) {
    this.#core = core
    this.#messages = messages
  }

  /** Breaks in. `quietly`: another message takes its place, so nobody is told of an interruption. */
  interrupt(quietly = false): void {
    if (quietly) this.#saysInterruption = false
    this.#abort.abort()
  }

  async run(): Promise<void> {
    const core = this.#core
    const [{ TurnCourse }, { runSubagent }] = await Promise.all([
      import("./turn-course.ts"),
      import("./subagent.ts"),
      core.model.load?.(),
    ])
    await core.toolbox.load({ run: (run) => runSubagent(core, run) })
    const saysInterruption = () => this.#saysInterruption
    await new TurnCourse(core, this.#messages, { abort: this.#abort, saysInterruption }).run()
  }
}
