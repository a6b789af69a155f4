import type { Ask } from "@signalbox/client"
import { counted, defined, textOf } from "@signalbox/protocol"
import { visibleLine, visibleText, whyLines } from "@signalbox/transcript"
import { fieldsOf } from "../asks/ask-fields.ts"
import { toolAsked } from "../asks/ask-text.ts"
import { grantLines, grantsOf } from "../asks/grants.ts"
import { type Colours, PLAIN } from "../terminal/output.ts"
import { cellWidth, cutCells, wrapCells } from "../terminal/text.ts"
import { whyText } from "../terminal/why-text.ts"
import { type Answering, alwaysOf, CHOOSE } from "./answering.ts"
import { bufferLines, type Paper } from "./frame.ts"

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
    ...whyText(ask, colours).flatMap((line) => wrapCells(line, width - 2).map(colours.dim)),
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
  if (answering.phase !== "choose") return HINTS[answering.phase]
  if (ask.kind === "dialog") return "n cancel · Esc back"
  const { size } = answering.ticked
  const always = ask.kind === "plan" ? "a allow and auto-accept edits" : "a always"
  return [
    size === 0 ? "y allow" : `y allow and keep ${size} selected`,
    "n deny",
    ...(ask.kind === "tool" ? ["e edit"] : []),
    ...(alwaysOf(answering, ask).length === 0 ? [] : [always]),
    ...(grantsOf(ask).length === 0 ? [] : ["1-9 select"]),
    "Esc back",
  ].join(" · ")
}

const HINTS = {
  deny: "Enter deny · Esc back",
  edit: "Enter review · Esc back",
  confirm: "y allow this · n back",
  fields: "Enter next: a number or your own answer · Esc back",
} as const

interface Drawing {
  readonly width: number
  readonly colours: Colours
  /** The grants that somebody ticked. */
  readonly ticked: ReadonlySet<number>
  /** The folder that the agent works in. */
  readonly cwd: string | null
  /** The plan that is asked about. */
  readonly plan: string | undefined
}

/** The whole request: every line, however long. */
function askBody(ask: Ask, drawing: Drawing): readonly string[] {
  const { width, plan } = drawing
  const wrap = (text: string) => wrapCells(visibleText(text), width)
  switch (ask.kind) {
    case "plan":
      return wrap(plan ?? "(empty plan)")
    case "elicitation":
      return wrap(
        `${textOf(ask.request, "mcp_server_name") ?? "An MCP server"} asks: ${textOf(ask.request, "message") ?? ""}\n${textOf(ask.request, "url") ?? ""}`.trim(),
      )
    case "dialog":
      return wrap(JSON.stringify(ask.request["payload"] ?? {}, null, 2))
    case "question":
      return []
    case "tool":
      return [...toolBody(ask, drawing), ...rememberLines(ask, drawing)]
  }
}

function askTitle({ request, toolName, kind }: Ask): string {
  const agent = textOf(request, "agent_id") === undefined ? "" : " (sub-agent)"
  const titles = {
    plan: `Approve the plan?${agent}`,
    question: `Question${agent}`,
    elicitation: "Form from an MCP server, not from Claude",
    dialog: `Dialog: ${visibleLine(textOf(request, "dialog_kind") ?? "unknown")}`,
    tool: `${visibleLine(textOf(request, "title") ?? `Allow ${toolName ?? "a tool"}?`)}${agent}`,
  }
  return titles[kind]
}

/** Lines are wrapped before they are painted, so that no colour is cut. */
function toolBody(ask: Ask, { width, colours, cwd }: Drawing): readonly string[] {
  const said = textOf(ask.request, "decision_reason")
  const facts = defined({
    // A hook of the hub had it asked: the agent repeats what is told below.
    decisionReason: ask.reason !== undefined && said?.includes(ask.reason) === true ? undefined : said,
    blockedPath: textOf(ask.request, "blocked_path"),
  })
  const decided = { part: whyLines(ask)?.part, mark: colours.yellow }
  const text = toolAsked(ask.toolName ?? "a tool", ask.input ?? {}, { facts, colours: PLAIN, cwd, decided })
  // The first lines are a title, which the panel has already.
  const lines = text.split("\n").slice(2, -1)
  return lines.flatMap((line) => wrapCells(line.replace(/^ {2}/, ""), width).map(paintOf(line, colours)))
}

function paintOf(line: string, colours: Colours): (text: string) => string {
  if (line.startsWith("  + ")) return colours.green
  if (line.startsWith("  - ")) return colours.red
  return line.startsWith("  why: ") ? colours.dim : same
}

function same(text: string): string {
  return text
}

/** Wrapped, never cut: a permission that is cut short is not what somebody agrees to. */
function rememberLines(ask: Ask, { width, colours, ticked }: Drawing): readonly string[] {
  const grants = grantsOf(ask)
  if (grants.length === 0) return []
  const lines = grantLines(grants, { always: "a", ticked }).flatMap((line) => wrapCells(line, width))
  return [colours.dim("Always allow (a, or select by number):"), ...lines.map(colours.dim)]
}
