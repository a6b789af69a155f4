import { counted, textOf } from "@signalbox/protocol"
import {
  type ActivityRow,
  answersOf,
  askWords,
  compactionWords,
  durationWords,
  editOf,
  failureOf,
  hookWords,
  limitWords,
  modelWords,
  type PromptRow,
  type Row,
  resultText,
  resultWords,
  retryWords,
  startedWords,
  type ToolRow,
  thinkingWords,
  toolHeading,
  visibleLine,
  visibleText,
} from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"
import { cellWidth, cutCells, wrapCells } from "../terminal/text.ts"

export interface Drawing {
  readonly width: number
  readonly colours: Colours
  /** The rows of a sub-agent. */
  readonly laneOf: (toolUseId: string) => readonly Row[]
}

const OUTPUT_LINES = 6
const EDIT_LINES = 16
const LANE_ROWS = 5
const THOUGHT_LINES = 3
const LIVE_CHARS = 20_000

/** A row as lines of the terminal, none wider than it is. */
export function rowLines(row: Row, drawing: Drawing): readonly string[] {
  const { colours, width } = drawing
  const small = (text: string) => wrapCells(visibleText(`· ${text}`), width).map(colours.dim)
  switch (row.kind) {
    case "prompt":
      return ["", ...promptLines(row, drawing)]
    case "text": {
      // The text in progress is laid out again with every frame: of a very long text only its end.
      const said = row.state === "live" ? row.text.slice(-LIVE_CHARS) : row.text
      const lines = wrapCells(visibleText(said), width)
      return ["", ...(row.state === "retracted" || row.state === "stale" ? lines.map(colours.dim) : lines)]
    }
    case "thinking": {
      const thought =
        row.state === "live" ? wrapCells(visibleText(row.text.slice(-LIVE_CHARS)), width - 2).slice(-THOUGHT_LINES) : []
      return [...small(thinkingWords(row)), ...thought.map((line) => colours.dim(`  ${line}`))]
    }
    case "tool":
      return toolLines(row, drawing)
    case "activity":
      return activityLines(row, drawing)
    case "failure": {
      const { what, next = "" } = failureOf(row)
      return ["", ...wrapCells(`✗ ${visibleText([what, row.text, next].join(" ").trimEnd())}`, width).map(colours.red)]
    }
    case "result":
      return resultLines(row, drawing)
    case "compaction":
      return [colours.dim(across(compactionWords(row), width))]
    case "note": {
      if (row.isDivider) return [colours.dim(across(visibleLine(row.text), width))]
      const paint = { quiet: colours.dim, info: colours.dim, warning: colours.yellow, danger: colours.red }[row.level]
      return wrapCells(visibleText(`· ${row.text}`), width).map(paint)
    }
    case "started":
      return small(startedWords(row))
    case "hook":
      return row.state === "failed"
        ? wrapCells(visibleText(`✗ ${hookWords(row)} ${row.output}`), width).map(colours.red)
        : small(hookWords(row))
    case "limit":
      return wrapCells(`! ${limitWords(row)}`, width).map(colours.yellow)
    case "retry":
      return small(retryWords(row))
    case "harness":
      return small(cutCells(visibleLine(row.text), width * 2))
    case "picture":
      return small(`a picture (${row.picture.mediaType})`)
    case "ask":
      return small(`${visibleLine(textOf(row.ask.request, "message") ?? "A question")}: ${askWords(row.ask) ?? "open"}`)
    case "unknown":
      return small(`Unknown event ${visibleLine(row.name)}`)
  }
}

function promptLines(row: PromptRow, { width, colours }: Drawing): readonly string[] {
  const head = `❯ ${visibleLine(row.author ?? "you")}`
  const state =
    row.delivery === "sent" || row.delivery === "delivered" || row.delivery === "completed" ? "" : ` (${row.delivery})`
  const pictures = row.pictures.length === 0 ? [] : [colours.dim(`  [${row.pictures.length} pictures]`)]
  const text = wrapCells(visibleText(row.text), width - 2).map((line) => `  ${line}`)
  return [`${colours.cyan(cutCells(head, width - 12))}${colours.dim(state)}`, ...text, ...pictures]
}

function toolLines(row: ToolRow, drawing: Drawing): readonly string[] {
  const { colours, width } = drawing
  const rest = [...outcomeLines(row, drawing), ...laneLines(row, drawing)]
  const told = row.ask === undefined ? undefined : askWords(row.ask)
  const ask = told === undefined ? [] : [colours.dim(cutCells(visibleLine(told), width - 2))]
  return [headingLine(row, drawing), ...[...ask, ...rest].map((line) => `  ${line}`)]
}

function headingLine(row: ToolRow, { colours, width }: Drawing): string {
  const { verb, target } = toolHeading(row)
  const elapsed = row.elapsedMs === undefined || row.elapsedMs < 1000 ? "" : ` ${durationWords(row.elapsedMs)}`
  const state =
    row.state === "done" || row.state === "running" || row.state === "live" ? "" : ` ${STATE_WORDS[row.state]}`
  const tail = `${state}${elapsed}`
  const head = visibleLine(verb)
  const room = Math.max(4, width - cellWidth(head) - cellWidth(tail) - 4)
  return `${glyphOf(row, colours)} ${colours.bold(head)} ${cutCells(visibleLine(target), room)}${colours.dim(tail)}`
}

const STATE_WORDS = {
  waiting: "waits for an answer",
  failed: "failed",
  denied: "denied",
  interrupted: "interrupted",
  missing: "no result recorded",
} as const

function glyphOf({ state }: ToolRow, colours: Colours): string {
  switch (state) {
    case "live":
    case "running":
      return colours.cyan("◌")
    case "waiting":
      return colours.yellow("?")
    case "done":
      return colours.green("●")
    case "failed":
    case "denied":
      return colours.red("✗")
    case "interrupted":
    case "missing":
      return colours.dim("○")
  }
}

function outcomeLines(row: ToolRow, { colours, width }: Drawing): readonly string[] {
  const room = width - 2
  const edit = editOf(row)
  if (edit !== undefined && row.state !== "failed" && row.state !== "denied") {
    const paint = { "+": colours.green, "-": colours.red, " ": colours.dim, "@": colours.dim }
    const lines = edit.lines
      .slice(0, EDIT_LINES)
      .map(({ mark, text }) => paint[mark](cutCells(visibleText(`${mark} ${text}`).replaceAll("\t", "  "), room)))
    const left = edit.lines.length - lines.length
    return left > 0 ? [...lines, colours.dim(`… ${counted(left, "more line")}`)] : lines
  }
  const answers = answersOf(row)
  if (answers.length > 0) {
    return answers.flatMap(({ question, answer }) => wrapCells(visibleText(`${question} ${answer}`), room))
  }
  if (row.result === undefined || row.hasLane) return []
  const paint = row.state === "failed" || row.state === "denied" ? colours.red : colours.dim
  const lines = visibleText(resultText(row.result)).trimEnd().split("\n")
  const shown = lines.slice(-OUTPUT_LINES).filter((line) => line !== "")
  const head =
    lines.length > OUTPUT_LINES ? [colours.dim(`… ${counted(lines.length - OUTPUT_LINES, "more line")}`)] : []
  return [...head, ...shown.map((line) => paint(cutCells(line.replaceAll("\t", "    "), room)))]
}

/** The newest steps of a sub-agent, one line each. */
function laneLines(row: ToolRow, { colours, width, laneOf }: Drawing): readonly string[] {
  if (!row.hasLane) return []
  const steps = laneOf(row.toolUseId).slice(-LANE_ROWS)
  const lines = steps.flatMap((step) => {
    const words = stepWords(step)
    return words === undefined ? [] : [colours.dim(cutCells(`│ ${words}`, width - 2))]
  })
  const { task } = row
  const facts = [task?.toolUses === undefined ? undefined : `${task.toolUses} tools`, task?.currentTool, task?.summary]
  const told = facts.filter((fact) => fact !== undefined).join(" · ")
  return told === "" ? lines : [...lines, colours.dim(cutCells(`└ ${visibleLine(told)}`, width - 2))]
}

function stepWords(row: Row): string | undefined {
  if (row.kind === "activity") return row.summary
  if (row.kind === "text") return visibleLine(row.text)
  if (row.kind !== "tool") return undefined
  const { verb, target } = toolHeading(row)
  return visibleLine(`${verb} ${target}`)
}

function activityLines(row: ActivityRow, drawing: Drawing): readonly string[] {
  const { colours, width } = drawing
  const glyph = row.state === "running" ? colours.cyan("◌") : colours.green("●")
  const tools = row.members.filter((member) => member.kind === "tool")
  const [only] = tools
  if (tools.length === 1 && only !== undefined) return [headingLine(only, drawing)]
  const calls = tools.length <= 3 ? tools.map((tool) => colours.dim(cutCells(`  ${stepWords(tool) ?? ""}`, width))) : []
  const caption = row.caption === undefined ? [] : [colours.dim(cutCells(`  ${visibleLine(row.caption)}`, width))]
  return [`${glyph} ${cutCells(row.summary, width - 2)}`, ...calls, ...caption]
}

function resultLines(row: Row & { kind: "result" }, { width, colours }: Drawing): readonly string[] {
  const text = row.text === undefined ? [] : wrapCells(visibleText(row.text), width)
  const errors = row.errors.flatMap((error) => wrapCells(visibleText(error), width)).map(colours.red)
  const paint = row.state === "failed" ? colours.red : colours.dim
  const models = modelWords(row.models).map((line) => colours.dim(cutCells(`  ${visibleLine(line)}`, width)))
  return [...text, ...errors, paint(across(visibleLine(resultWords(row)), width)), ...models]
}

/** A line with words in it: ── words ────── */
function across(words: string, width: number): string {
  const head = `── ${cutCells(words, Math.max(1, width - 6))} `
  return head + "─".repeat(Math.max(0, width - cellWidth(head)))
}
