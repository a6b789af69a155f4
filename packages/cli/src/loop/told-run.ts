import type { Run } from "@signalbox/client"
import type { RunReport } from "./run-report.ts"
import type { RunState } from "./run-state.ts"
import type { RunView } from "./run-view.ts"

interface Telling extends Pick<RunView, "command"> {
  readonly report: RunReport
}

/** A run under way and whoever is told of it. */
export class ToldRun {
  readonly #run: Run
  readonly #report: RunReport
  readonly #command: RunView["command"]
  readonly #began = performance.now()
  #state: RunState
  #isHubAway = false

  constructor(run: Run, state: RunState, { report, command }: Telling) {
    this.#run = run
    this.#state = state
    this.#report = report
    this.#command = command
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
    return { run: id, title, state: this.#state, isHubAway: this.#isHubAway, elapsedMs, command: this.#command }
  }
}
