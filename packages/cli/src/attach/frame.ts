import { failureAdvice, hasFailed } from "@signalbox/client"
import { costWords, countWords, thinkingLevelWords, totalTokens, visibleLine, visibleText } from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"
import { cellWidth, cutCells, timeOfDay, wrapCells } from "../terminal/text.ts"
import type { FeedState } from "./session-feed.ts"
import type { TextBuffer } from "./text-buffer.ts"

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Paper {
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
  return `${colours.bold(title)} ${colours[isFailed ? "red" : STATE_COLOURS[session.state]](state)}${gap}${colours.dim(right)}`
}

const STATE_COLOURS = {
  waiting: "yellow",
  running: "green",
  starting: "green",
  disconnected: "red",
  idle: "dim",
  ended: "dim",
} as const satisfies Record<FeedState["session"]["state"], keyof Colours>

/** One line on what is wrong, if something is. */
export function statusLines(state: FeedState, { width, colours }: Paper): readonly string[] {
  const { session, lostAt, lostBecause, ending, notice, command } = state
  const lines: string[] = []
  const put = (colour: "red" | "yellow", text: string) => lines.push(colours[colour](cutCells(text, width)))
  const why = visibleLine(lostBecause ?? "connection lost")
  if (lostAt !== undefined) put("red", `Reconnecting (${why}). Last updated ${timeOfDay(lostAt)}.`)
  if (ending !== undefined) put("red", `Disconnected: ${visibleLine(ending)}`)
  if (session.next !== undefined) put("yellow", `Continued in another session: ${command(`attach ${session.next}`)}`)
  const advice = failureAdvice(session)
  if (advice !== undefined) put("red", advice)
  if (notice !== undefined) put("yellow", visibleLine(notice))
  return lines
}

/** A text with its cursor, as lines. */
export function bufferLines({ text, at }: TextBuffer, { width }: Paper, prefix: string): readonly string[] {
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
    isScrolled ? `End: jump to newest${below > 0 ? ` (${below} below)` : ""}` : undefined,
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
