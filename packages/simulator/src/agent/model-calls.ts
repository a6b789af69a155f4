import { isRetried, maxRetries, retryDelayMs, retryName } from "./api-errors.ts"
import { playAside } from "./asides.ts"
import { type AgentCore, toolsOf } from "./core.ts"
import { Speech } from "./speech.ts"
import type { Failure, Spoken } from "./spoken.ts"
import type { TurnReport } from "./turn-report.ts"

export type Why = "said" | "results" | "retry" | "continue"

/** The calls of the model in one turn. */
export class ModelCalls {
  readonly #core: AgentCore
  readonly #report: TurnReport
  readonly #signal: AbortSignal
  readonly #userUuids: () => readonly string[]
  #speech: Speech | undefined
  #count = 0

  /** `userUuids`: of the host's messages that the turn answers. */
  constructor(core: AgentCore, turn: { report: TurnReport; signal: AbortSignal; userUuids: () => readonly string[] }) {
    this.#core = core
    this.#report = turn.report
    this.#signal = turn.signal
    this.#userUuids = turn.userUuids
  }

  get count(): number {
    return this.#count
  }

  /** To be called after an interruption was told of. */
  closeStream(): void {
    this.#speech?.closeStream()
  }

  /** One call of the model, tried again as often as a CLI would. */
  async call(why: Why, text: string): Promise<Spoken> {
    const core = this.#core
    this.#count++
    for (let attempt = 1; ; attempt++) {
      const startedAt = core.clock.now()
      this.#report.timing.requestMs ??= Math.max(0, startedAt - this.#report.startedAt)
      this.#report.timing.requestWallMs ??= startedAt
      const spoken = await this.#speak(attempt === 1 ? why : "retry", text)
      core.ledger.addApiTime(core.clock.now() - startedAt)
      if (spoken.firstTokenMs !== undefined) {
        this.#report.timing.firstTokenMs ??= (this.#report.timing.requestMs ?? 0) + spoken.firstTokenMs
      }
      const { failure } = spoken
      if (failure === undefined || failure.kind === "aborted") return spoken
      if (!isRetried(core, failure) || attempt > maxRetries(core)) return spoken
      await this.#waitForRetry(failure, attempt)
      if (this.#signal.aborted) return { ...spoken, failure: { kind: "aborted" } }
    }
  }

  async #waitForRetry(failure: Failure, attempt: number): Promise<void> {
    const core = this.#core
    const delay = retryDelayMs(core, attempt)
    const { status, name } = retryName(core, failure)
    // Nobody is told of a reply that began well and ended in an error.
    const isInStream = failure.kind === "http" && failure.status === 0
    if (core.profile.quirks.announcesRetries && !isInStream) {
      const counts = { attempt, max_retries: maxRetries(core), retry_delay_ms: delay }
      core.wire.system("api_retry", { ...counts, error_status: status, error: name })
    }
    await core.clock.pause(delay, this.#signal)
  }

  async #speak(why: Why, text: string): Promise<Spoken> {
    const core = this.#core
    const signal = this.#signal
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
      extra: {},
      isMain: true,
      onAside: (aside) => playAside(core, aside, signal),
      userUuids: why === "said" && core.profile.generation === 325 ? this.#userUuids() : [],
    })
    return this.#speech.listen(actions)
  }
}
