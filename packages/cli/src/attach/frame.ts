import { type Ask, failureAdvice, hasFailed } from "@signalbox/client"
import { counted } from "@signalbox/protocol"
import { costWords, countWords, thinkingLevelWords, totalTokens, visibleLine, visibleText } from "@signalbox/transcript"
import { grantsOf } from "../asks/standing-grants.ts"
import { cellWidth, cutCells, wrapCells } from "../terminal/cells.ts"
import type { Colours } from "../terminal/colours.ts"
import { timeOfDay } from "../terminal/moments.ts"
import { type Answering, alwaysOf, CHOOSE } from "./answering.ts"
import { askBody, askTitle, fieldsOf } from "./ask-body.ts"
import type { FeedState } from "./session-feed.ts"
import type { TextBuffer } from "./text-buffer.ts"

export interface Size {
  readonly columns: number
  readonly rows: number
}

interface Paper {
  readonly width: number
  readonly colours: Colours
}

const MAX_COMPOSER_LINES = 6

/** Title, state, model, mode and cost, on one line. */
export function headerLine({ session }: FeedState, { width, colours }: Paper): string {
  const facts = [
    session.model ?? "",
    session.permissionMode ?? "",
    session.maxThinkingTokens == null ? "" : thinkingLevelWords(session.maxThinkingTokens),
    session.costUsd > 0 ? costWords(session.costUsd) : "",
    totalTokens(session.tokens) > 0 ? `${countWords(totalTokens(session.tokens))} tokens` : "",
  ]
  const right = cutCells(visibleLine(facts.filter((fact) => fact !== "").join(" · ")), Math.floor(width / 2))
  const isFailed = hasFailed(session)
  const state = ` ${isFailed ? "failed" : session.state} `
  const room = Math.max(4, width - cellWidth(right) - state.length - 2)
  const title = cutCells(visibleLine(session.title ?? session.id), room)
  const gap = " ".repeat(Math.max(1, width - cellWidth(title) - state.length - cellWidth(right) - 1))
  return `${colours.bold(title)} ${(isFailed ? colours.red : stateColour(session.state, colours))(state)}${gap}${colours.dim(right)}`
}

function stateColour(state: FeedState["session"]["state"], colours: Colours): (text: string) => string {
  switch (state) {
    case "waiting":
      return colours.yellow
    case "running":
    case "starting":
      return colours.green
    case "disconnected":
      return colours.red
    case "idle":
    case "ended":
      return colours.dim
  }
}

/** One line on what is wrong, if something is. */
export function statusLines(state: FeedState, { width, colours }: Paper): readonly string[] {
  const { session, lostAt, lostBecause, ending, notice, command } = state
  const lines: string[] = []
  if (lostAt !== undefined)
    lines.push(
      colours.red(
        cutCells(`Reconnecting: ${visibleLine(lostBecause ?? "")}. Shown as of ${timeOfDay(lostAt)}.`, width),
      ),
    )
  if (ending !== undefined) lines.push(colours.red(cutCells(`Cut off: ${visibleLine(ending)}`, width)))
  if (session.next !== undefined)
    lines.push(colours.yellow(cutCells(`The conversation goes on: ${command(`attach ${session.next}`)}`, width)))
  const advice = failureAdvice(session)
  if (advice !== undefined) lines.push(colours.red(cutCells(advice, width)))
  if (notice !== undefined) lines.push(colours.yellow(cutCells(visibleLine(notice), width)))
  return lines
}

export interface AskPanel {
  readonly ask: Ask
  /** The folder that the agent works in. */
  readonly cwd: string | null
  /** The plan that is asked about, from the request or from the call. */
  readonly plan: string | undefined
  readonly count: number
  readonly answering: Answering
  readonly isFocused: boolean
  /** The first line of the body that is seen. */
  readonly from: number
  readonly height: number
}

export interface DrawnPanel {
  readonly lines: readonly string[]
  /** How many lines of the body there are, and how many are seen at once. */
  readonly total: number
  readonly seen: number
}

export function askPanel(panel: AskPanel, paper: Paper): DrawnPanel {
  const { ask, count, answering, isFocused } = panel
  const { width, colours } = paper
  const body = [
    ...askBody(ask, {
      width: width - 2,
      colours,
      ticked: answering.phase === "choose" ? answering.ticked : CHOOSE.ticked,
      cwd: panel.cwd,
      plan: panel.plan,
    }),
    ...phaseLines(ask, answering, { width: width - 2, colours }),
  ]
  const seen = Math.max(1, panel.height - 2)
  const from = Math.min(panel.from, Math.max(0, body.length - seen))
  const many = count > 1 ? ` (1 of ${count})` : ""
  const paint = isFocused ? colours.yellow : colours.dim
  const title = cutCells(` ${askTitle(ask)}${many} `, width - 4)
  const head = paint(`┌─${title}${"─".repeat(Math.max(0, width - cellWidth(title) - 2))}`)
  const shown = body.slice(from, from + seen).map((line) => `${paint("│")} ${line}`)
  const below = body.length - from - seen
  const hint =
    below > 0
      ? `${isFocused ? "" : "Tab: answer · "}↓ ${counted(below, "more line")}`
      : hintOf(ask, answering, isFocused)
  return { lines: [head, ...shown, paint(`└ ${cutCells(hint, width - 2)}`)], total: body.length, seen }
}

function phaseLines(ask: Ask, answering: Answering, { width, colours }: Paper): readonly string[] {
  switch (answering.phase) {
    case "choose":
      return []
    case "deny":
      return bufferLines(answering.buffer, { width, colours }, "Reason: ")
    case "edit":
      return [...bufferLines(answering.buffer, { width, colours }, "Instead: "), ...problem(answering.problem, colours)]
    case "confirm":
      return wrapCells(visibleText(`Instead: ${JSON.stringify(answering.input, null, 2)}`, "decision"), width)
    case "fields": {
      const field = fieldsOf(ask)[answering.index]
      if (field === undefined) return []
      const options = field.options.flatMap(({ label, description }, index) => {
        const more = description === undefined ? "" : `  ${description}`
        return wrapCells(visibleLine(`${index + 1}. ${label}${more}`), width)
      })
      const words = wrapCells(field.words, width).map(colours.bold)
      return [
        ...words,
        ...options,
        ...bufferLines(answering.buffer, { width, colours }, "> "),
        ...problem(answering.problem, colours),
      ]
    }
  }
}

function problem(text: string | undefined, colours: Colours): readonly string[] {
  return text === undefined ? [] : [colours.red(visibleLine(text))]
}

function hintOf(ask: Ask, answering: Answering, isFocused: boolean): string {
  if (!isFocused) return "Tab: answer"
  switch (answering.phase) {
    case "choose": {
      if (ask.kind === "dialog") return "n cancel · Esc back"
      const more = ask.kind === "tool" ? " · e edit" : ""
      const { size } = answering.ticked
      const always =
        alwaysOf(answering, ask).length === 0 ? "" : ask.kind === "plan" ? " · a and accept edits" : " · a always"
      const tick = grantsOf(ask).length === 0 ? "" : " · 1-9 tick"
      const yes = size === 0 ? "y allow" : `y allow and keep ${size} ticked`
      return `${yes} · n deny${more}${always}${tick} · Esc back`
    }
    case "deny":
      return "Enter deny · Esc back"
    case "edit":
      return "Enter look at it · Esc back"
    case "confirm":
      return "y allow this · n back"
    case "fields":
      return "Enter next: a number or your own words · Esc back"
  }
}

/** A text with its cursor, as lines. */
function bufferLines({ text, at }: TextBuffer, { width }: Paper, prefix: string): readonly string[] {
  const marked = `${text.slice(0, at)}${CURSOR}${text.slice(at)}`
  const lines = wrapCells(`${prefix}${visibleText(marked)}`, width)
  return lines.map((line) => line.replace(CURSOR, "\u001b[7m \u001b[27m"))
}

/** Private use: nobody writes it, and it has a width. */
const CURSOR = "\ue0c7"

/** The last lines of what is being written: the cursor is almost always there. */
export function composerLines(buffer: TextBuffer, paper: Paper, isFocused: boolean): readonly string[] {
  const { colours, width } = paper
  if (!isFocused) return [colours.dim(cutCells(`❯ ${visibleLine(buffer.text)}`, width))]
  const lines = bufferLines(buffer, paper, "❯ ")
  const cursor = lines.findIndex((line) => line.includes("\u001b[7m"))
  const from = Math.max(0, Math.min(lines.length - MAX_COMPOSER_LINES, cursor - MAX_COMPOSER_LINES + 1))
  return lines.slice(from, from + MAX_COMPOSER_LINES)
}

interface Hints {
  readonly isRunning: boolean
  readonly isScrolled: boolean
  readonly below: number
}

export function hintLine({ width, colours }: Paper, { isRunning, isScrolled, below }: Hints): string {
  const parts = [
    isScrolled ? `End: back to the newest${below > 0 ? `, ${below} below` : ""}` : undefined,
    "Enter send",
    isRunning ? "Esc interrupt" : undefined,
    // Early: a narrow terminal cuts the end, and the way out must stay in sight.
    "Ctrl-C leave",
    "Shift-Tab mode",
    "Ctrl-O model",
    "Ctrl-T thinking",
    "PgUp/PgDn scroll",
  ]
  return colours.dim(cutCells(parts.filter((part) => part !== undefined).join(" · "), width))
}
