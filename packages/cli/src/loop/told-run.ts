import type { Run } from "@signalbox/client"
import type { RunReport } from "./run-report.ts"
import type { RunState } from "./run-state.ts"
import type { RunView } from "./run-view.ts"

/** A run under way and whoever is told of it. */
export class ToldRun {
  readonly #run: Run
  readonly #report: RunReport
  readonly #began = performance.now()
  #state: RunState
  #isHubAway = false

  constructor(run: Run, state: RunState, report: RunReport) {
    this.#run = run
    this.#state = state
    this.#report = report
    report.began(this.#view())
  }

  change(state: RunState, before: RunState): void {
    this.#state = state
    this.#report.changed(this.#view(), before)
  }

  /** Each of its agents' connections tells it; people are told once. */
  hubIsAway(isAway: boolean): void {
    if (isAway === this.#isHubAway) return
    this.#isHubAway = isAway
    this.#report.away(this.#view())
  }

  over(): void {
    this.#report.over(this.#view())
  }

  #view(): RunView {
    const { id, title } = this.#run
    const elapsedMs = performance.now() - this.#began
    return { run: id, title, state: this.#state, isHubAway: this.#isHubAway, elapsedMs }
  }
}
