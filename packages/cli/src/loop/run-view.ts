import { costWords, counted } from "@signalbox/protocol"
import { durationWords } from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"
import { tableText } from "../terminal/table.ts"
import { cutCells, onOneLine } from "../terminal/text.ts"
import { costOf, isActive, type RunState, type StopReason, type Task, turnsOf } from "./run-state.ts"

/** A run as a person sees it: text and nothing else, from the state alone. */
export interface RunView {
  readonly run: string
  readonly title: string
  readonly state: RunState
  readonly elapsedMs: number
  readonly isHubAway: boolean
  /** A command of ours to type, with the data directory that this one has. */
  readonly command: (words: string) => string
}

export interface Screen {
  readonly width: number
  readonly height: number
  readonly colours: Colours
}

export const SHORT_ID = 8
const TEXT_CHARS = 200
const BAR_CELLS = 20
/** The bar, the head of the table and the line about tasks that do not fit. */
const OTHER_LINES = 3

/** No more lines than the screen has: active tasks first, then waiting ones, then finished ones. */
export function runLines(view: RunView, { width, height, colours }: Screen): string[] {
  const todo = todoOf(view)
  const shown = shownTasks(view.state.tasks, Math.max(1, height - OTHER_LINES - (todo === undefined ? 0 : 1)))
  const table = tableText(
    shown,
    [
      { title: "#", text: ({ number }) => String(number), isRight: true },
      {
        title: "STATE",
        text: stateWord,
        paint: (text, task) => colours[STATE_COLOURS[stateWord(task)] ?? "cyan"](text),
      },
      { title: "TRY", text: ({ tries }) => (tries === 0 ? "" : String(tries)), isRight: true },
      { title: "COST", text: ({ costUsd }) => (costUsd === 0 ? "" : costWords(costUsd)), isRight: true },
      { title: "SESSION", text: ({ session }) => session?.slice(0, SHORT_ID) ?? "", paint: colours.dim },
      { title: "TASK", text: taskText, isWide: true },
    ],
    { width, title: colours.dim },
  )
  const hidden = view.state.tasks.length - shown.length
  return [
    barLine(view, { width, colours }),
    ...table.trimEnd().split("\n"),
    ...(hidden > 0 ? [colours.dim(`… and ${hidden} more`)] : []),
    ...(todo === undefined ? [] : [todo]),
  ]
}

function shownTasks(tasks: readonly Task[], room: number): Task[] {
  const waiting = tasks.filter(({ state }) => state === "waiting" || state === "cut")
  const over = tasks.filter(({ state }) => state === "done" || state === "failed").toReversed()
  return [...tasks.filter(isActive), ...waiting, ...over]
    .slice(0, room)
    .toSorted((one, other) => one.number - other.number)
}

function barLine(view: RunView, { width, colours }: Pick<Screen, "width" | "colours">): string {
  const { isHubAway, state } = view
  const done = count(state, "done")
  const failed = count(state, "failed")
  const share = (part: number) => Math.round((part / Math.max(1, state.tasks.length)) * BAR_CELLS)
  const filled = share(done + failed)
  const red = Math.min(filled, failed === 0 ? 0 : Math.max(1, share(failed)))
  const bar = `${colours.green("█".repeat(filled - red))}${colours.red("█".repeat(red))}${colours.dim("░".repeat(BAR_CELLS - filled))}`
  const news = isHubAway ? "hub offline, reconnecting" : newsOf(view)
  const text = [...(news === undefined ? [] : [news]), countsText(view)].join(" · ")
  return `${bar} ${cutCells(text, Math.max(1, width - BAR_CELLS - 1))}`
}

/** Tasks that need attention now. */
function newsOf(view: RunView): string | undefined {
  if (view.state.phase.name === "stopping") return "stopping"
  const asking = askingIn(view)
  if (asking === 0) return undefined
  return todoOf(view) === undefined
    ? `${counted(asking, "request")} waiting: ${view.command("asks")}`
    : `${counted(asking, "request")} waiting`
}

/** A command with a path in it gets its own line: beside the counts there is no room for it. */
function todoOf(view: RunView): string | undefined {
  const command = view.command("asks")
  if (view.state.phase.name !== "running" || askingIn(view) === 0 || command === "signalbox asks") return undefined
  return `Answer: ${command}`
}

function askingIn({ state }: RunView): number {
  return state.tasks.filter((task) => stateWord(task) === "asks").length
}

/** "3 of 8 done, 1 failed · $0.42 · 5 turns · 4 min 12 s" */
function countsText({ state, elapsedMs }: Pick<RunView, "state" | "elapsedMs">): string {
  const failed = count(state, "failed")
  const turns = turnsOf(state)
  return [
    `${count(state, "done")} of ${state.tasks.length} done${failed === 0 ? "" : `, ${failed} failed`}`,
    costWords(costOf(state)),
    counted(turns, "turn"),
    durationWords(elapsedMs),
  ].join(" · ")
}

const OUTCOMES = { done: ["Done", "green"], failed: ["Failed", "red"], stopped: ["Stopped", "yellow"] } as const

/** The summary of a run: its outcome, what failed and why, and how to resume. */
export function summaryLines(view: RunView, colours: Colours): string[] {
  const { state, run, command } = view
  const { phase } = state
  if (phase.name !== "over") return []
  const [word, colour] = OUTCOMES[phase.outcome]
  const why = phase.why === undefined || phase.outcome !== "stopped" ? "" : ` (${stopText(phase.why)})`
  const failed = state.tasks.filter((task) => task.state === "failed")
  return [
    `${colours[colour](`${word}${why}`)}: ${countsText(view)}`,
    ...failed.map((task) => `  ${task.number}. ${cutCells(taskText(task), 60)}: ${whyFailed(task, command)}`),
    ...(phase.outcome === "stopped" ? [`Resume: ${command(`loop --resume ${run.slice(0, SHORT_ID)}`)}`] : []),
  ]
}

function whyFailed({ note, session }: Task, command: RunView["command"]): string {
  const log = session === undefined ? "" : ` (${command(`log ${session.slice(0, SHORT_ID)}`)})`
  return `${cutCells(onOneLine(note ?? "failed"), TEXT_CHARS)}${log}`
}

export function stopText(why: StopReason): string {
  switch (why.kind) {
    case "user":
      return "you stopped it"
    case "cost":
      return "--max-cost reached"
    case "turns":
      return "--max-turns reached"
    case "person":
      return `${onOneLine(why.by)} denied and interrupted task ${why.task}`
    case "refused":
      return onOneLine(why.message)
  }
}

export function stateWord(task: Task): string {
  if (task.state === "working" && task.asks) return "asks"
  if (task.state === "leaving") return "stopping"
  return task.state === "cut" ? "waiting" : task.state
}

/** All others are cyan. */
const STATE_COLOURS: Readonly<Record<string, keyof Colours>> = {
  done: "green",
  failed: "red",
  asks: "yellow",
  stopping: "yellow",
  waiting: "dim",
}

export function taskText({ text }: Pick<Task, "text">): string {
  return cutCells(onOneLine(text), TEXT_CHARS)
}

export function count({ tasks }: RunState, state: Task["state"]): number {
  return tasks.filter((task) => task.state === state).length
}
