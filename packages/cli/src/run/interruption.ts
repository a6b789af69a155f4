import type { Query } from "@signalbox/sdk"

/** Most agents are done with it before anybody wonders. */
const HINT_MS = 1_500

/**
 * Ctrl-C interrupts the turn; a second one ends the agent, and so does the first as long as no turn has begun. Signals are heard
 * to the very end: a process that dies of one would leave behind an agent that takes its time.
 */
export class Interruption {
  readonly #stderr: NodeJS.WriteStream
  #agent: Query | undefined
  #count = 0
  #hasTurn = false
  #isEnded = false
  #hint: NodeJS.Timeout | undefined

  constructor(stderr: NodeJS.WriteStream) {
    this.#stderr = stderr
  }

  /** Whether its user ended the agent. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Before the agent is started: whoever sees its process may press the key at once. */
  listen(): void {
    process.on("SIGINT", () => this.happen())
    process.on("SIGTERM", () => this.#close())
    process.on("SIGHUP", () => this.#close())
  }

  begin(agent: Query): void {
    this.#agent = agent
  }

  /** The agent has said something: there is a turn to interrupt. */
  heard(): void {
    this.#hasTurn = true
  }

  end(): void {
    clearTimeout(this.#hint)
  }

  happen(): void {
    this.#count++
    // What the terminal shows for the key stands alone.
    if (this.#stderr.isTTY && this.#count <= 2) this.#stderr.write("\n")
    if (this.#count > 1 || !this.#hasTurn) return this.#close()
    // What it answers does not matter: the turn's own end tells.
    this.#agent?.interrupt().catch(() => undefined)
    this.#hint = setTimeout(
      () => this.#stderr.write("signalbox: interrupting; Ctrl-C once more ends the agent\n"),
      HINT_MS,
    )
  }

  #close(): void {
    clearTimeout(this.#hint)
    this.#isEnded = true
    this.#agent?.close()
  }
}
