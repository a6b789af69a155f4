import { counted } from "@signalbox/protocol"
import {
  askWords,
  failureOf,
  modelWords,
  type Row,
  resultText,
  resultWords,
  retryWords,
  type TextRow,
  type ToolRow,
  Transcript,
  type TranscriptEvent,
  thinkingWords,
  toolHeading,
  visibleLine,
  visibleText,
} from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"
import { cutCells } from "../terminal/text.ts"

const OUTPUT_LINES = 6
/** Only the newest rows change. */
const LOOKED_AT = 200
/** An escape that the next piece may complete. */
// oxlint-disable-next-line no-control-regex -- that is what is looked for
const UNFINISHED = /(?:\u001b(?:\[[0-9;:]*)?|\r|[\ud800-\udbff])$/

interface Output {
  readonly write: (text: string) => void
  readonly colours: Colours
  readonly width: number
}

/** Writes what an agent does, line by line as it happens; nothing is taken back. */
export class RunView {
  readonly #output: Output
  readonly #transcript = new Transcript()
  /** How much of each row is written. */
  readonly #written = new Map<string, number>()
  #seq = 0
  #isMidLine = false
  #isHeld = false

  constructor(output: Output) {
    this.#output = output
  }

  take(message: TranscriptEvent["message"]): void {
    this.#transcript.delta(message)
    const at = new Date().toISOString()
    if (!EPHEMERAL.has(message.type)) this.#transcript.fold([{ seq: ++this.#seq, at, from: "agent", message }])
    if (!this.#isHeld) this.#write()
  }

  /** The plan in the call of a tool: a CLI that wrote no plan file leaves it out of the request. */
  planOf(toolUseId: string): string | undefined {
    const plan = this.#transcript.tool(toolUseId)?.input["plan"]
    return typeof plan === "string" ? plan : undefined
  }

  /** Stops writing while somebody is asked, so that the question stays in sight. */
  hold(): void {
    this.#endLine()
    this.#isHeld = true
  }

  goOn(): void {
    this.#isHeld = false
    this.#write()
  }

  #write(): void {
    for (const lane of [null, ...this.#transcript.lanes()]) {
      for (const row of this.#transcript.rows(lane).slice(-LOOKED_AT)) this.#row(row)
    }
  }

  #row(row: Row): void {
    const { colours } = this.#output
    switch (row.kind) {
      case "text":
        return row.lane === null ? this.#text(row) : undefined
      case "tool":
        return this.#tool(row)
      case "activity":
        for (const member of row.members) if (member.kind === "tool") this.#tool(member)
        return
      case "thinking":
        return isUnderWay(row) ? undefined : this.#once(row, colours.dim(`· ${thinkingWords(row)}`))
      case "failure": {
        const { what, next = "" } = failureOf(row)
        return this.#once(row, colours.red(visibleLine(`${what} ${row.text} ${next}`.trimEnd())))
      }
      case "retry":
        return this.#once(row, colours.dim(`· ${retryWords(row)}`))
      case "note":
        return row.level === "quiet" ? undefined : this.#once(row, colours.dim(`· ${visibleLine(row.text)}`))
      case "unknown":
        return this.#once(row, colours.dim(`· unknown event ${visibleLine(row.name)}`))
      case "result": {
        const paint = row.state === "failed" ? colours.red : colours.dim
        const said = row.text === undefined ? "" : `${visibleText(row.text)}\n`
        const errors = row.errors.map((error) => `${colours.red(visibleLine(error))}\n`).join("")
        return this.#once(
          row,
          `${said}${errors}${[resultWords(row), ...modelWords(row.models).map((line) => `  ${visibleLine(line)}`)].map(paint).join("\n")}`,
        )
      }
      // Shown already, or of no use to somebody who reads along.
      case "prompt":
      case "harness":
      case "started":
      case "hook":
      case "limit":
      case "compaction":
      case "picture":
      case "ask":
        return
    }
  }

  #text(row: TextRow): void {
    const from = this.#written.get(row.key) ?? 0
    const held = isUnderWay(row) ? (UNFINISHED.exec(row.text)?.[0].length ?? 0) : 0
    const to = row.text.length - held
    if (to <= from) {
      if (!isUnderWay(row) && from > 0) this.#endLine()
      return
    }
    if (from === 0) this.#endLine()
    const piece = visibleText(row.text.slice(from, to))
    this.#output.write(piece)
    this.#isMidLine = !piece.endsWith("\n")
    this.#written.set(row.key, to)
    if (!isUnderWay(row)) this.#endLine()
  }

  /** 1: its call is written; 2: what came of it. */
  #tool(row: ToolRow): void {
    const { colours, width } = this.#output
    const stage = this.#written.get(row.key) ?? 0
    const indent = row.lane === null ? "" : "  "
    if (stage === 0 && row.state !== "live") {
      const { verb, target } = toolHeading(row)
      const room = Math.max(10, width - verb.length - indent.length - 4)
      this.#line(
        `${indent}${colours.cyan("●")} ${colours.bold(visibleLine(verb))} ${cutCells(visibleLine(target), room)}`,
      )
      this.#written.set(row.key, 1)
    }
    if (stage === 2 || row.result === undefined) return
    this.#written.set(row.key, 2)
    for (const line of this.#outcome(row)) this.#line(`${indent}  ${line}`)
  }

  #outcome(row: ToolRow): readonly string[] {
    const { colours, width } = this.#output
    const told = row.ask === undefined ? undefined : askWords(row.ask)
    if (row.state === "denied") return [colours.red(cutCells(`denied: ${visibleLine(told ?? textOf(row))}`, width - 4))]
    const lines = visibleText(textOf(row)).trimEnd().split("\n")
    const isQuiet = row.name === "Read" || row.lane !== null
    const shown = isQuiet && row.state === "done" ? [] : lines.slice(-OUTPUT_LINES)
    const left = lines.length - shown.length
    const paint = row.state === "failed" ? colours.red : colours.dim
    const head = left > 0 && shown.length > 0 ? [colours.dim(`… ${counted(left, "more line")}`)] : []
    return [...head, ...shown.filter((line) => line !== "").map((line) => paint(cutCells(line, width - 4)))]
  }

  #once(row: Row, text: string): void {
    if (this.#written.has(row.key)) return
    this.#written.set(row.key, 1)
    this.#line(text)
  }

  #line(text: string): void {
    this.#endLine()
    this.#output.write(`${text}\n`)
  }

  #endLine(): void {
    if (this.#isMidLine) this.#output.write("\n")
    this.#isMidLine = false
  }
}

const EPHEMERAL: ReadonlySet<string> = new Set(["stream_event", "tool_progress", "command_lifecycle", "keep_alive"])

function textOf(row: ToolRow): string {
  return row.result === undefined ? "" : resultText(row.result)
}

/** More of it may come, now or after a reconnect. */
function isUnderWay({ state }: Pick<TextRow, "state">): boolean {
  return state === "live" || state === "stale"
}
