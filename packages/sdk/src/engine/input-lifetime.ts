import { type InFlight, initialRunState, judgeRun, type RunInput, type RunState, stepRun } from "./run-state.ts"

export interface InputLifetimeOptions {
  readonly inFlight: () => InFlight
  /** Called once, when the run is over. */
  readonly end: () => void
}

type Phase =
  | { readonly name: "open" }
  | { readonly name: "settling"; readonly timer: NodeJS.Timeout; readonly ms: number }
  | { readonly name: "ended" }
  | { readonly name: "stopped" }

/** Ends the agent's input when the run is over, and not before. */
export class InputLifetime {
  readonly #options: InputLifetimeOptions
  #state: RunState = initialRunState
  #phase: Phase = { name: "open" }

  constructor(options: InputLifetimeOptions) {
    this.#options = options
  }

  /** Whether the agent was told anything that it may answer to. */
  get hasSent(): boolean {
    return this.#state.messagesSent > 0
  }

  step(input: RunInput): void {
    const before = this.#state
    this.#state = stepRun(before, input)
    if (this.#state !== before) this.consider()
  }

  /** Something has changed: is it over now? */
  consider(): void {
    if (this.#phase.name === "ended" || this.#phase.name === "stopped") return
    const verdict = judgeRun(this.#state, this.#options.inFlight())
    if (verdict.kind === "settling") return this.#settle(verdict.ms)
    this.#wake()
    if (verdict.kind === "over") this.#end()
  }

  /** The agent is gone, or its end is brought about in another way. */
  stop(): void {
    this.#wake()
    this.#phase = { name: "stopped" }
  }

  #settle(ms: number): void {
    if (this.#phase.name === "settling" && this.#phase.ms === ms) return
    this.#wake()
    this.#phase = { name: "settling", ms, timer: setTimeout(() => this.#end(), ms) }
  }

  #wake(): void {
    if (this.#phase.name !== "settling") return
    clearTimeout(this.#phase.timer)
    this.#phase = { name: "open" }
  }

  #end(): void {
    this.#phase = { name: "ended" }
    this.#options.end()
  }
}
