import type { Ask } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { CanUseToolOptions } from "@signalbox/sdk"
import {
  blockedPathWords,
  editOf,
  type ToolRow,
  toolHeading,
  visibleLine,
  visibleText,
  type WhyLines,
} from "@signalbox/transcript"
import type { Colours } from "../terminal/output.ts"

/** The fields of a tool's input that say most about what it would do, the best first. */
const TELLING = ["command", "file_path", "notebook_path", "url", "query", "pattern", "path", "prompt", "description"]

/** The request in words. */
export function askText(ask: Ask): string {
  const { kind, request, input, toolName } = ask
  switch (kind) {
    case "question":
      return questionsOf(ask).join(" / ") || "a question"
    case "plan":
      return textOf(input, "plan") ?? "a plan"
    case "elicitation":
      return `${textOf(request, "mcp_server_name") ?? "a server"} asks: ${textOf(request, "message") ?? ""}`
    case "dialog":
      return textOf(request, "dialog_kind") ?? textOf(request, "message") ?? "a dialog"
    case "tool":
      return toolText(toolName ?? "a tool", input)
  }
}

export function toolText(name: string, input: unknown): string {
  const questions = name === "AskUserQuestion" ? questionTexts(input) : []
  if (questions.length > 0) return questions.join(" / ")
  const telling = TELLING.map((field) => textOf(input, field)).find((text) => text !== undefined)
  const rest = telling ?? (isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "")
  return rest === "" ? name : `${name} ${rest}`
}

/** The texts of an AskUserQuestion: the answers are given by them. */
export function questionsOf({ input }: Ask): string[] {
  return questionTexts(input)
}

function questionTexts(input: unknown): string[] {
  const questions = isObject(input) ? input["questions"] : undefined
  if (!Array.isArray(questions)) return []
  return questions.flatMap(
    (question: unknown) => textOf(question, "question") ?? textOf(fieldOf(question, "question"), "text") ?? [],
  )
}

interface About {
  readonly facts: Pick<CanUseToolOptions, "title" | "decisionReason" | "blockedPath">
  readonly colours: Colours
  /** The folder that the agent works in. */
  readonly cwd: string | null
  /** The part of a command that decided, and how it is marked. */
  readonly decided?: { readonly part: WhyLines["part"]; readonly mark: (text: string) => string }
}

/** A tool's effect, in full: nothing that would run is left out of what is shown. */
export function toolAsked(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  { facts, colours, cwd, decided }: About,
): string {
  const row = callOf(tool, input)
  const { verb } = toolHeading(row)
  const title = facts.title ?? (verb === "$" ? "Run a command" : `${verb} (${tool})`)
  const why = [
    facts.decisionReason,
    facts.blockedPath === undefined ? undefined : blockedPathWords(facts.blockedPath, { folders: [cwd] }),
  ]
  return [
    "",
    colours.yellow(`? ${visibleLine(title)}`),
    ...bodyOf(row, colours, decided).map((line) => `  ${line}`),
    ...why.filter((line) => line !== undefined).map((line) => colours.dim(`  why: ${visibleLine(line)}`)),
    "",
  ].join("\n")
}

function bodyOf(row: ToolRow, colours: Colours, decided: About["decided"]): readonly string[] {
  const command = row.input["command"]
  const shown = (text: string) => visibleText(text, "decision")
  if (row.name === "Bash" && typeof command === "string") {
    return [`$ ${markedCommand(command, decided)}`, ...detailsOf(row.input).map(shown)].flatMap((text) =>
      text.split("\n"),
    )
  }
  const edit = editOf(row)
  if (edit === undefined) return shown(JSON.stringify(row.input, null, 2)).split("\n")
  const paint = { "+": colours.green, "-": colours.red, " ": (text: string) => text, "@": colours.dim }
  return [shown(edit.path), ...edit.lines.map(({ mark, text }) => paint[mark](`${mark} ${shown(text)}`))]
}

/** A mark on all of it would say nothing. Each line has its own, because they are wrapped one by one. */
function markedCommand(command: string, decided: About["decided"]): string {
  const shown = (text: string) => visibleText(text, "decision")
  const { before = "", text = "", after = "" } = decided?.part ?? {}
  if (decided === undefined || text === command || before + text + after !== command) return shown(command)
  return `${shown(before)}${shown(text).split("\n").map(decided.mark).join("\n")}${shown(after)}`
}

/** Options that were given with a command. */
function detailsOf(input: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(input)
    .filter(([name]) => name !== "command")
    .map(
      ([name, value]) => `${name}: ${isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)}`,
    )
}

function callOf(name: string, input: Readonly<Record<string, unknown>>): ToolRow {
  const place = { key: "", headSeq: 0, lastSeq: 0, lane: null, at: "" }
  return {
    kind: "tool",
    ...place,
    state: "waiting",
    toolUseId: "",
    name,
    input,
    hasCall: true,
    hasLane: false,
    isRetracted: false,
  }
}
