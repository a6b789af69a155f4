import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { JsonObject, ToolResult, ToolRow } from "./row.ts"

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

/** What the model was told, as text. */
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
