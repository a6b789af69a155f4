import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { JsonObject, ToolRow } from "@signalbox/transcript"
import { oneLine } from "../../design/visible-text.tsx"
import { shortPath } from "../../design/words.ts"

/** Tools that start a sub-agent. */
export const AGENTS: ReadonlySet<string> = new Set(["Task", "Agent"])

/** A text that is there, or undefined. */
export function textIn(source: unknown, field: string): string | undefined {
  const text = textOf(source, field)
  return text === "" ? undefined : text
}

export function numberIn(source: unknown, field: string): number | undefined {
  const value = isObject(source) ? source[field] : undefined
  return typeof value === "number" ? value : undefined
}

/** The result that the model got, as text. */
export function resultText(content: unknown): string {
  if (typeof content === "string") return content.replace(/^<tool_use_error>([^]*)<\/tool_use_error>$/, "$1")
  if (!Array.isArray(content)) return ""
  const texts = content.flatMap(
    (block: unknown) => textIn(block, "text") ?? textIn(fieldOf(block, "resource"), "text") ?? [],
  )
  return texts.join("\n")
}

interface ToolWords {
  /** The kind of thing it is, in a word or two. */
  readonly name: string
  /** The thing it is about. */
  readonly subject: string
  /** The subject is code: a command, a path, a pattern. */
  readonly isCode: boolean
}

function firstText(input: JsonObject): string {
  const found = Object.values(input).find((value) => typeof value === "string" && value.trim() !== "")
  return typeof found === "string" ? oneLine(found, 160) : ""
}

const MAX_ARGUMENTS = 3

/** The first text of an input, and whatever else of it is short enough to be told. */
function keyArguments(input: JsonObject): string {
  const first = firstText(input)
  const others = Object.entries(input).flatMap(([name, value]) => {
    const isShort = typeof value === "number" || typeof value === "boolean" || typeof value === "string"
    const text = isShort ? oneLine(String(value), 40) : ""
    return text === "" || text === first ? [] : [`${oneLine(name, 30)}: ${text}`]
  })
  return [first, ...others.slice(0, MAX_ARGUMENTS)].filter((part) => part !== "").join(", ")
}

/** Words for a tool's input, and for the file it names, by tool. */
const TELLERS: Readonly<Record<string, (input: JsonObject, file: string) => ToolWords>> = {
  Bash: (input) => words("$", lineIn(input, "command", 240), true),
  Read: (input, file) => words("Read", `${file}${rangeOf(input)}`, true),
  Edit: (_, file) => words("Edit", file, true),
  MultiEdit: (_, file) => words("Edit", file, true),
  NotebookEdit: (_, file) => words("Edit", file, true),
  Write: (_, file) => words("Write", file, true),
  Glob: (input, file) => words("Find", patternWords(input, file), true),
  Grep: (input, file) => words("Search", patternWords(input, file), true),
  WebFetch: (input) => words("Fetch", lineIn(input, "url"), true),
  WebSearch: (input) => words("Web search", lineIn(input, "query")),
  Task: agentWords,
  Agent: agentWords,
  TaskCreate: (input) => words("New task", lineIn(input, "subject") || firstText(input)),
  TaskUpdate: (input) => words(`Task ${lineIn(input, "taskId", 20)}`.trim(), taskWords(input)),
  TodoWrite: (input) => words("To-do list", todoWords(input)),
  AskUserQuestion: (input) => words("Question", questionWords(input)),
  ExitPlanMode: () => words("Plan"),
  EnterPlanMode: () => words("Plan mode"),
}

/** One line for any tool, known or not. */
export function toolWords({ name, input, hasCall }: Pick<ToolRow, "name" | "input" | "hasCall">): ToolWords {
  if (!hasCall) return words("Result of an earlier call")
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path") ?? textIn(input, "path")
  const file = path === undefined ? "" : oneLine(shortPath(path, 3), 120)
  const teller = Object.hasOwn(TELLERS, name) ? TELLERS[name] : undefined
  if (teller !== undefined) return teller(input, file)
  const [, server, tool = ""] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  if (server !== undefined) return words(`${oneLine(server, 40)} · ${oneLine(tool, 60)}`, keyArguments(input))
  return words(oneLine(name, 60), firstText(input))
}

function lineIn(input: JsonObject, field: string, maxChars = 160): string {
  return oneLine(textIn(input, field) ?? "", maxChars)
}

function patternWords(input: JsonObject, file: string): string {
  return `${lineIn(input, "pattern", 120)}${file === "" ? "" : ` in ${file}`}`
}

function agentWords(input: JsonObject): ToolWords {
  return words(textIn(input, "subagent_type") ?? "Agent", lineIn(input, "description"))
}

function words(name: string, subject = "", isCode = false): ToolWords {
  return { name, subject, isCode }
}

function rangeOf(input: JsonObject): string {
  const pages = textIn(input, "pages")
  if (pages !== undefined) return `, ${/[-,–]/.test(pages) ? "pages" : "page"} ${oneLine(pages, 40)}`
  const offset = numberIn(input, "offset")
  const limit = numberIn(input, "limit")
  if (offset === undefined && limit === undefined) return ""
  const from = offset ?? 1
  return limit === undefined ? `:${from}–` : `:${from}–${from + limit - 1}`
}

export interface Todo {
  readonly text: string
  readonly status: string
}

export function todosOf(input: unknown): readonly Todo[] {
  const todos = isObject(input) ? input["todos"] : undefined
  if (!Array.isArray(todos)) return []
  return todos.map((todo: unknown) => ({
    text: textIn(todo, "content") ?? textIn(todo, "subject") ?? "",
    status: textIn(todo, "status") ?? "pending",
  }))
}

const STATUS_WORDS: Readonly<Record<string, string>> = {
  completed: "done",
  in_progress: "started",
  pending: "to do",
  deleted: "removed",
}

function taskWords(input: JsonObject): string {
  const status = textIn(input, "status")
  const words = status === undefined ? undefined : (STATUS_WORDS[status] ?? status)
  return oneLine([words, textIn(input, "subject")].filter((part) => part !== undefined).join(": "), 160)
}

function todoWords(input: JsonObject): string {
  const todos = todosOf(input)
  const done = todos.filter(({ status }) => status === "completed").length
  const started = todos.filter(({ status }) => status === "in_progress").length
  return `${done} of ${todos.length} done${started > 0 ? `, ${started} started` : ""}`
}

function questionWords(input: JsonObject): string {
  const questions: readonly unknown[] = Array.isArray(input["questions"]) ? input["questions"] : []
  return oneLine(questions.map((question) => textIn(question, "question") ?? "").join(" "), 200)
}
