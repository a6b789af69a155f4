import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { numberOf } from "./entry.ts"
import type { JsonObject, ToolResult, ToolRow, TranscriptEvent } from "./row.ts"

/** How a call is told in one line: what it does, and to what. */
export interface ToolHeading {
  readonly verb: string
  readonly target: string
}

type Teller = (input: JsonObject, row: ToolRow) => ToolHeading

const to =
  (verb: string, ...fields: readonly string[]): Teller =>
  (input) => ({ verb, target: fields.flatMap((field) => textOf(input, field) ?? [])[0] ?? "" })

const TELLERS: Readonly<Record<string, Teller>> = {
  Bash: to("$", "command"),
  Read: (input) => ({ verb: "Read", target: `${textOf(input, "file_path") ?? ""}${rangeOf(input)}` }),
  NotebookRead: to("Read", "notebook_path"),
  Edit: to("Edit", "file_path"),
  MultiEdit: to("Edit", "file_path"),
  Write: to("Write", "file_path"),
  NotebookEdit: to("Edit", "notebook_path"),
  Glob: (input) => ({ verb: "Find", target: inPath(textOf(input, "pattern"), input) }),
  Grep: (input) => ({ verb: "Search", target: inPath(textOf(input, "pattern"), input) }),
  LS: to("List", "path"),
  WebFetch: to("Fetch", "url"),
  WebSearch: to("Search the web", "query"),
  ToolSearch: to("Look for tools", "query"),
  TodoWrite: (input) => ({ verb: "Tasks", target: todoWords(input["todos"]) }),
  TaskCreate: to("New task", "subject", "title", "description"),
  TaskUpdate: to("Task", "subject", "status", "taskId"),
  Task: subagent,
  Agent: subagent,
  AskUserQuestion: (input) => ({ verb: "Question", target: firstQuestion(input) }),
  ExitPlanMode: (input) => ({ verb: "Plan", target: firstLine(textOf(input, "plan") ?? "") }),
  EnterPlanMode: () => ({ verb: "Plan mode", target: "" }),
  Skill: to("Skill", "skill", "command", "name"),
  SlashCommand: to("Command", "command"),
}

export function toolHeading(row: ToolRow): ToolHeading {
  if (row.name === "") return { verb: row.hasLane ? "Sub-agent" : "Result of an earlier call", target: "" }
  const teller = Object.hasOwn(TELLERS, row.name) ? TELLERS[row.name] : undefined
  return teller?.(row.input, row) ?? { verb: plainName(row), target: firstString(row.input) }
}

/** `mcp__server__tool` is "server: tool". */
function plainName(row: ToolRow): string {
  const [prefix, server, ...tool] = row.name.split("__")
  const name = row.displayName ?? row.name
  return prefix === "mcp" && server !== undefined && tool.length > 0 ? `${server}: ${tool.join("__")}` : name
}

function subagent(input: JsonObject, row: ToolRow): ToolHeading {
  const kind = textOf(input, "subagent_type") ?? row.task?.subagentType
  const target = textOf(input, "description") ?? row.task?.description ?? firstLine(textOf(input, "prompt") ?? "")
  return { verb: kind === undefined ? "Agent" : `Agent ${kind}`, target }
}

function rangeOf(input: JsonObject): string {
  const [offset, limit] = [input["offset"], input["limit"]]
  if (typeof offset !== "number" && typeof limit !== "number") return ""
  const from = typeof offset === "number" ? offset : 1
  return typeof limit === "number" ? `:${from}-${from + limit - 1}` : `:${from}-`
}

function inPath(pattern = "", input: JsonObject): string {
  const path = textOf(input, "path")
  return path === undefined ? pattern : `${pattern} in ${path}`
}

function todoWords(todos: unknown): string {
  const list = Array.isArray(todos) ? todos.filter(isObject) : []
  const done = list.filter((todo) => todo["status"] === "completed").length
  const current = list.find((todo) => todo["status"] === "in_progress")
  const doing = textOf(current, "activeForm") ?? textOf(current, "content")
  return `${done} of ${list.length} done${doing === undefined ? "" : `, ${doing}`}`
}

function firstQuestion(input: JsonObject): string {
  const questions = input["questions"]
  const [first, ...rest] = Array.isArray(questions) ? questions : []
  return `${textOf(first, "question") ?? ""}${rest.length === 0 ? "" : ` (and ${rest.length} more)`}`
}

function firstString(input: JsonObject): string {
  return firstLine(Object.values(input).find((value) => typeof value === "string") ?? "")
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? ""
}

/** The result that the model got, as text. */
export function resultText(result: ToolResult): string {
  const { content, structured } = result
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return typeof structured === "string" ? structured : ""
  return content
    .filter(isObject)
    .map((block) => textOf(block, "text") ?? `[${textOf(block, "type") ?? "something"}]`)
    .join("\n")
}

/** Question and answer pairs of an AskUserQuestion that was answered. */
export function answersOf(row: ToolRow): readonly { readonly question: string; readonly answer: string }[] {
  const answers =
    fieldOf(row.result?.structured, "answers") ?? fieldOf(fieldOf(row.ask?.answer, "updatedInput"), "answers") ?? {}
  return Object.entries(answers).flatMap(([question, answer]) =>
    typeof answer === "string" ? [{ question, answer }] : [],
  )
}

export interface EditLine {
  readonly mark: "+" | "-" | " " | "@"
  readonly text: string
}

export interface Edit {
  readonly path: string
  readonly lines: readonly EditLine[]
  readonly added: number
  readonly removed: number
  /** The file itself was compared; otherwise only what the call says. */
  readonly isExact: boolean
}

/** A call's change to a file; undefined for any other call. */
export function editOf(row: ToolRow): Edit | undefined {
  const { input, name } = row
  const path = textOf(input, "file_path") ?? textOf(input, "notebook_path")
  if (path === undefined) return undefined
  const hunks = fieldOf({ structured: row.result?.structured }, "structured")?.["structuredPatch"]
  if (Array.isArray(hunks) && hunks.length > 0) return told(path, hunks.filter(isObject).flatMap(hunkLines), true)
  const lines = inputLines(name, input)
  return lines === undefined ? undefined : told(path, lines, false)
}

function told(path: string, lines: readonly EditLine[], isExact: boolean): Edit {
  const count = (mark: EditLine["mark"]) => lines.filter((line) => line.mark === mark).length
  return { path, lines, added: count("+"), removed: count("-"), isExact }
}

function hunkLines(hunk: JsonObject): readonly EditLine[] {
  const lines = hunk["lines"]
  const start = numberOf(hunk, "newStart") ?? numberOf(hunk, "oldStart")
  const head: EditLine = { mark: "@", text: start === undefined ? "" : `line ${start}` }
  const body = (Array.isArray(lines) ? lines : []).filter((line) => typeof line === "string").map(markedLine)
  return [head, ...body]
}

function markedLine(line: string): EditLine {
  const mark = line.charAt(0)
  return mark === "+" || mark === "-" ? { mark, text: line.slice(1) } : { mark: " ", text: line.slice(1) }
}

function inputLines(name: string, input: JsonObject): readonly EditLine[] | undefined {
  switch (name) {
    case "Edit":
      return replaced(textOf(input, "old_string") ?? "", textOf(input, "new_string") ?? "")
    case "MultiEdit": {
      const edits = input["edits"]
      const each = (Array.isArray(edits) ? edits : []).filter(isObject)
      return each.flatMap((edit) => [
        { mark: "@" as const, text: "" },
        ...replaced(textOf(edit, "old_string") ?? "", textOf(edit, "new_string") ?? ""),
      ])
    }
    case "Write":
      return replaced("", textOf(input, "content") ?? "")
    case "NotebookEdit":
      return replaced(textOf(input, "old_source") ?? "", textOf(input, "new_source") ?? "")
    default:
      return undefined
  }
}

/** Lines that both have at the beginning and at the end are context; a full comparison is not needed for a few lines. */
function replaced(before: string, after: string): readonly EditLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const marked = (mark: EditLine["mark"], lines: readonly string[]) => lines.map((text) => ({ mark, text }))
  return [
    ...marked(" ", old.slice(0, head)),
    ...marked("-", old.slice(head, old.length - tail)),
    ...marked("+", now.slice(head, now.length - tail)),
    ...marked(" ", old.slice(old.length - tail)),
  ]
}

function linesOf(text: string): readonly string[] {
  if (text === "") return []
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
}

/** How many events before a request its call is looked for: other agents may have spoken between. */
export const PLAN_EVENTS = 100

/**
 * The plan that stands in the call itself. A CLI asks with the plan of its plan file, and with none where no file was written:
 * then the call is the only place that has it.
 */
export function planInCall(events: readonly TranscriptEvent[], toolUseId: string | undefined): string | undefined {
  if (toolUseId === undefined) return undefined
  for (const { message } of events.toReversed()) {
    const content = message.type === "assistant" ? fieldOf(message, "message")?.["content"] : undefined
    const call = Array.isArray(content)
      ? content.find((block: unknown) => textOf(block, "id") === toolUseId)
      : undefined
    if (call !== undefined) return textOf(fieldOf(call, "input"), "plan")
  }
  return undefined
}
