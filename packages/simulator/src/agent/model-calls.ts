import { playAside } from "./asides.ts"
import { type AgentCore, toolsOf } from "./core.ts"
import {
  type Failure,
  isQuiet,
  isRetried,
  maxRetries,
  mendingOf,
  retryDelayMs,
  retryName,
  type Spoken,
  Tries,
} from "./failures.ts"
import { Speech } from "./speech.ts"
import type { TurnReport } from "./turn-report.ts"

export type Why = "said" | "results" | "retry" | "continue"

interface CallingTurn {
  readonly report: TurnReport
  readonly signal: AbortSignal
  /** Uuids of the host's messages that the turn answers. */
  readonly userUuids: () => readonly string[]
  /** Whether a reply that was refused is taken back. */
  readonly retracts: (spoken: Spoken) => boolean
}

/** The calls of the model in one turn. */
export class ModelCalls {
  readonly #core: AgentCore
  readonly #turn: CallingTurn
  /** Messages that the next reply takes the place of; it is not announced again. */
  superseded: readonly string[] = []
  #speech: Speech | undefined
  count = 0

  constructor(core: AgentCore, turn: CallingTurn) {
    this.#core = core
    this.#turn = turn
  }

  /** To be called after an interruption was told of. */
  closeStream(): void {
    this.#speech?.closeStream()
  }

  /** One call of the model, tried again as often as a CLI would. */
  async call(why: Why, text: string): Promise<Spoken> {
    this.count++
    const spoken = await this.#tryOut(why, text)
    this.superseded = []
    return spoken
  }

  async #tryOut(why: Why, text: string): Promise<Spoken> {
    const core = this.#core
    let [isAgain, isWhole] = [false, false]
    const tries = new Tries(maxRetries(core))
    for (;;) {
      const startedAt = core.clock.now()
      this.#turn.report.timing.requestMs ??= Math.max(0, startedAt - this.#turn.report.startedAt)
      this.#turn.report.timing.requestWallMs ??= startedAt
      const spoken = await this.#speak(isAgain ? "retry" : why, text, isWhole)
      core.ledger.addApiTime(core.clock.now() - startedAt)
      if (spoken.firstTokenMs !== undefined) {
        this.#turn.report.timing.firstTokenMs ??= (this.#turn.report.timing.requestMs ?? 0) + spoken.firstTokenMs
      }
      const { failure } = spoken
      if (failure === undefined || failure.kind === "aborted") return spoken
      const mending = mendingOf(core, spoken)
      if (mending === "continue" || mending === "give-up") return spoken
      isAgain = true
      if (mending === "ask-whole") {
        isWhole = true
        continue
      }
      if (!isRetried(core, failure) || !tries.another(failure)) return { ...spoken, failure: tries.final(failure) }
      await this.#waitForRetry(failure, tries)
      if (this.#turn.signal.aborted) return { ...spoken, failure: { kind: "aborted" } }
    }
  }

  async #waitForRetry(failure: Failure, { made, allowed }: Tries): Promise<void> {
    const core = this.#core
    const delay = retryDelayMs(core, Math.max(1, made))
    const { status, name } = retryName(core, failure)
    if (core.profile.quirks.announcesRetries && !isQuiet(failure)) {
      const counts = { attempt: made, max_retries: allowed, retry_delay_ms: delay }
      core.wire.system("api_retry", { ...counts, error_status: status, error: name })
    }
    await core.clock.pause(delay, this.#turn.signal)
  }

  async #speak(why: Why, text: string, isWhole: boolean): Promise<Spoken> {
    const core = this.#core
    const signal = this.#turn.signal
    const request = {
      why,
      text,
      model: core.state.model,
      sessionId: core.wire.sessionId,
      messages: core.history,
      tools: toolsOf(core),
    }
    const actions = core.model.call(request, signal)
    this.#speech = new Speech(core, {
      signal,
      parent: null,
      extra: this.superseded.length === 0 ? {} : { supersedes: this.superseded },
      isMain: true,
      isAgain: why === "retry" || this.superseded.length > 0,
      retracts: this.#turn.retracts,
      isWhole,
      onAside: (aside) => playAside(core, aside, signal),
      userUuids: why === "said" && core.profile.quirks.namesAnswered ? this.#turn.userUuids() : [],
    })
    return this.#speech.listen(actions)
  }
}
