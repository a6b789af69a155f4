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
        cutCells(
          `Reconnecting (${visibleLine(lostBecause ?? "connection lost")}). Last updated ${timeOfDay(lostAt)}.`,
          width,
        ),
      ),
    )
  if (ending !== undefined) lines.push(colours.red(cutCells(`Disconnected: ${visibleLine(ending)}`, width)))
  if (session.next !== undefined)
    lines.push(colours.yellow(cutCells(`Continued in another session: ${command(`attach ${session.next}`)}`, width)))
  const advice = failureAdvice(session)
  if (advice !== undefined) lines.push(colours.red(cutCells(advice, width)))
  if (notice !== undefined) lines.push(colours.yellow(cutCells(visibleLine(notice), width)))
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
