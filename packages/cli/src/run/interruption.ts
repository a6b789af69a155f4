import type { Query } from "@signalbox/sdk"

/** Most interrupts take effect sooner. */
const HINT_MS = 1_500

/**
 * Ctrl-C interrupts the turn; a second one stops the agent, and so does the first if no turn has begun. Signals are handled to the
 * very end: dying of one would leave a slow agent behind.
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

  /** Whether the user stopped the agent. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Called before the agent starts: somebody may press the key at once. */
  listen(): void {
    process.on("SIGINT", () => this.happen())
    process.on("SIGTERM", () => this.#close())
    process.on("SIGHUP", () => this.#close())
  }

  begin(agent: Query): void {
    this.#agent = agent
  }

  /** The agent has said something, so there is a turn to interrupt. */
  heard(): void {
    this.#hasTurn = true
  }

  end(): void {
    clearTimeout(this.#hint)
  }

  happen(): void {
    this.#count++
    // Ends the line on which the terminal shows the key.
    if (this.#stderr.isTTY) this.#stderr.write("\n")
    if (this.#count > 1 || !this.#hasTurn) return this.#close()
    // Its answer does not matter: the end of the turn tells.
    this.#agent?.interrupt().catch(() => undefined)
    this.#hint = setTimeout(
      () => this.#stderr.write("signalbox: interrupting; press Ctrl-C again to stop the agent\n"),
      HINT_MS,
    )
  }

  #close(): void {
    clearTimeout(this.#hint)
    this.#isEnded = true
    this.#agent?.close()
  }
}
