import type { Run } from "@signalbox/client"
import { counted } from "@signalbox/protocol"
import type { CommandContext } from "../base/context.ts"
import { coloursFor, widthOf } from "../terminal/output.ts"
import { timeOfDay } from "../terminal/text.ts"
import { costOf, factsOf, type RunState, turnsOf } from "./run-state.ts"
import { count, type RunView, runLines, SHORT_ID, stateWord, stopText, summaryLines, taskText } from "./run-view.ts"

/** Reports on a run while it goes on. */
export interface RunReport {
  began(view: RunView): void
  changed(view: RunView, before: RunState): void
  away(view: RunView): void
  /** Also called if the run ends with an error: then without a summary. */
  over(view: RunView): void
}

export function reportFor(
  context: CommandContext,
  { json = false }: { readonly json?: boolean | undefined },
): RunReport {
  if (json) return jsonReport(context)
  return context.stdout.isTTY && context.env["TERM"] !== "dumb" ? tableReport(context) : linesReport(context)
}

/** One object on each line: the run, each change of a task, and the sum. */
function jsonReport({ stdout }: CommandContext): RunReport {
  const print = (value: object) => void stdout.write(`${JSON.stringify(value)}\n`)
  return {
    began({ run, title, state }) {
      const tasks = state.tasks.map((task) => ({ task: task.number, text: task.text, state: stateWord(task) }))
      print({ event: "run", run, title, tasks })
    },
    changed({ run, state }, before) {
      for (const task of changedTasks(state, before)) {
        const { number, text: _, ...facts } = factsOf(task)
        print({ event: "task", run, task: number, state: stateWord(task), ...facts })
      }
    },
    away: ({ run, isHubAway }) => print({ event: "hub", run, away: isHubAway }),
    over({ run, state, elapsedMs }) {
      const { phase } = state
      if (phase.name !== "over") return
      const done = count(state, "done")
      const failed = count(state, "failed")
      print({
        event: "summary",
        run,
        state: phase.outcome,
        done,
        failed,
        waiting: state.tasks.length - done - failed,
        turns: turnsOf(state),
        costUsd: costOf(state),
        seconds: Math.round(elapsedMs / 100) / 10,
        ...(phase.why === undefined ? {} : { reason: stopText(phase.why) }),
      })
    },
  }
}

/** For files and pipes: a line for each change. */
function linesReport({ stdout, env }: CommandContext): RunReport {
  const print = (text: string) => void stdout.write(`${timeOfDay(new Date().toISOString())} ${text}\n`)
  const colours = coloursFor(stdout, env)
  return {
    began: ({ run, title, state }) =>
      print(`run ${run.slice(0, SHORT_ID)}: ${title}, ${counted(state.tasks.length, "task")}`),
    changed({ state }, before) {
      for (const task of changedTasks(state, before)) {
        const { number, tries, note } = task
        const last = before.tasks[number - 1]
        if (last !== undefined && stateWord(last) === stateWord(task) && last.tries === tries) continue
        const why = task.state === "failed" && note !== undefined ? `: ${note}` : ""
        const which = tries === 0 ? "" : ` (try ${tries})`
        print(`task ${number} of ${state.tasks.length} ${stateWord(task)}${which} ${taskText(task)}${why}`)
      }
    },
    away: ({ isHubAway }) => print(isHubAway ? "hub offline, reconnecting" : "reconnected to the hub"),
    over(view) {
      for (const line of summaryLines(view, colours)) stdout.write(`${line}\n`)
    },
  }
}

const DRAW_MS = 100
const TICK_MS = 1_000
const UP = (lines: number) => (lines === 0 ? "" : `\u001b[${lines}A`)
const CLEAR_BELOW = "\u001b[J"
/** Lines that are too wide are cut, not wrapped: what was drawn must be found again. */
const NO_WRAP = "\u001b[?7l"
const WRAP = "\u001b[?7h"

/** On a terminal: a table that is drawn over itself, where the cursor is. */
function tableReport({ stdout, env }: CommandContext): RunReport {
  const colours = coloursFor(stdout, env)
  let drawn = 0
  let last: { readonly view: RunView; readonly at: number } | undefined
  let soon: NodeJS.Timeout | undefined
  const draw = () => {
    if (last === undefined) return
    const view = { ...last.view, elapsedMs: last.view.elapsedMs + performance.now() - last.at }
    // The title above it stays in sight.
    const screen = { width: widthOf(stdout) || 80, height: (stdout.rows || 24) - 2, colours }
    const lines = runLines(view, screen)
    stdout.write(`${NO_WRAP}\r${UP(drawn)}${CLEAR_BELOW}${lines.join("\n")}\n${WRAP}`)
    drawn = lines.length
  }
  const drawSoon = (view: RunView) => {
    last = { view, at: performance.now() }
    soon ??= setTimeout(() => {
      soon = undefined
      draw()
    }, DRAW_MS)
  }
  const ticking = setInterval(draw, TICK_MS)
  return {
    began(view) {
      stdout.write(`${colours.bold(view.title)} ${colours.dim(`run ${view.run.slice(0, SHORT_ID)}`)}\n`)
      drawSoon(view)
    },
    changed: drawSoon,
    away: drawSoon,
    over(view) {
      clearInterval(ticking)
      clearTimeout(soon)
      last = { view, at: performance.now() }
      draw()
      for (const line of summaryLines(view, colours)) stdout.write(`${line}\n`)
    },
  }
}

function changedTasks(state: RunState, before: RunState) {
  return state.tasks.filter((task, index) => task !== before.tasks[index])
}

interface Telling extends Pick<RunView, "command"> {
  readonly report: RunReport
}

/** A run under way and its report. */
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

  /** Called by the connection of each agent; people are told once. */
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
