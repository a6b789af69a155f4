import { failureAdvice, type Session } from "@signalbox/client"
import { oneLine } from "../design/visible-text.tsx"
import { age, clockTime } from "../design/words.ts"
import { summaryOf } from "../fleet/ask-words.ts"
import { isSilent } from "../fleet/session-status.tsx"
import { exitWords } from "../fleet/session-words.ts"
import type { SessionEntry } from "./session-sections.ts"

/** The last thing of it that means something: what it asks, where it failed, what it said. */
export function lastLineOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return summaryOf(ask)
  if (status === "starting") return "Waiting for the agent"
  if (status === "failed") return failureLine(session)
  const step = status === "running" ? session.progress?.step : undefined
  if (step !== undefined) return oneLine(step, 200)
  return oneLine(plainLine(session.lastLine ?? ""), 200)
}

/** For how long it is as it is; of a machine that is away, as of when that is known. */
export function sinceWords(entry: SessionEntry, now: number): string {
  const { runnerSeenAt } = entry.session
  if (isSilent(entry.session, now) && runnerSeenAt !== undefined) return `as of ${clockTime(Date.parse(runnerSeenAt))}`
  return age(Date.parse(sinceOf(entry)), now)
}

function sinceOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return ask.askedAt
  return status === "running" ? (session.turnStartedAt ?? session.updatedAt) : session.updatedAt
}

const RESULTS: ReadonlyMap<string, string> = new Map([
  ["error_max_turns", "Turn limit reached"],
  ["error_max_budget_usd", "Budget reached"],
  ["error_max_structured_output_retries", "No valid structured output"],
])

/** Why a session failed, in one line. */
export function failureLine(session: Session): string {
  const { exit, lastResult, lastLine, state } = session
  const advice = failureAdvice(session)
  if (advice !== undefined) return advice
  if (state === "ended" && (exit?.code ?? 0) !== 0) return exitWords(exit)
  const known = RESULTS.get(lastResult?.subtype ?? "")
  // The failure is what it said last.
  return known ?? oneLine(plainLine(lastLine ?? "") || "The turn failed", 200)
}

/** A line of an agent's text as a person would say it: without the marks of a table, a heading, a list or an emphasis. */
export function plainLine(line: string): string {
  const text = line.trim().slice(0, MAX_CHARS)
  const cells = text.startsWith("|") ? text.split("|").map((cell) => cell.trim()) : [text]
  return (
    cells
      .map(plainCell)
      .filter((cell) => /[\p{L}\p{N}]/u.test(cell))
      .join(", ")
      // The hub tells the end of a long line: it may begin in the middle of a sentence.
      .replace(/^[\s.,;:!?)\]]+/, "")
  )
}

/** More than is shown of it anywhere, and little enough for any text. */
const MAX_CHARS = 500

/** A quote, a heading, a list item with or without its box, at the beginning. */
const BLOCK_MARK = /^(?:>\s*|#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)+/
const HEADING_END = /^(#{1,6}\s.*?)\s+#+$/
/** Code, and a mark that was meant as itself: what they hold is left as it is. */
const VERBATIM = /(`+)(.+?)\1|\\([\\`*_{}[\]()#+.!|~>-])/g
const LINK = /!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)|<((?:https?|mailto):[^>\s]+)>/g
const STRONG = /(\*\*\*|\*\*|__|~~)(?=\S)(.+?)\1/g
/** Not within a word: `snake_case` and `2*3*4` are no emphasis. */
const EMPHASIS = /(?<![\w*])(\*|_)(?=[^\s*_])([^*_]*?[^\s*_])\1(?![\w*])/g
/** One whose other half is elsewhere, as the line was cut. */
const HALF = /(?<![\w*])(?:\*\*|~~)(?=\S)|(?<=\S)(?:\*\*|~~)(?![\w*])|`/g

function plainCell(cell: string): string {
  const verbatim: string[] = []
  const masked = cell
    .replaceAll("\0", "")
    .replace(HEADING_END, "$1")
    .replaceAll(VERBATIM, (_whole, _ticks, code: string | undefined, mark: string | undefined) => {
      verbatim.push(code?.trim() ?? mark ?? "")
      return "\0"
    })
  return masked
    .replace(BLOCK_MARK, "")
    .replaceAll(LINK, (_whole, words: string | undefined, address: string | undefined) => words ?? address ?? "")
    .replaceAll(STRONG, "$2")
    .replaceAll(EMPHASIS, "$2")
    .replaceAll(HALF, "")
    .replaceAll("\0", () => verbatim.shift() ?? "")
}
