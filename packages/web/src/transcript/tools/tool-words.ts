import { isObject, textOf } from "@signalbox/protocol/envelope"
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

function numberIn(source: unknown, field: string): number | undefined {
  const value = isObject(source) ? source[field] : undefined
  return typeof value === "number" ? value : undefined
}

/** What the model was told, as text. */
export function resultText(content: unknown): string {
  if (typeof content === "string") return content.replace(/^<tool_use_error>([^]*)<\/tool_use_error>$/, "$1")
  if (!Array.isArray(content)) return ""
  return content
    .map(
      (block: unknown) =>
        textIn(block, "text") ?? textIn(isObject(block) ? block["resource"] : undefined, "text") ?? "",
    )
    .filter((text) => text !== "")
    .join("\n")
}

interface ToolWords {
  /** What kind of thing it is, in a word or two. */
  readonly name: string
  /** What it is about. */
  readonly subject: string
  /** The subject is code: a command, a path, a pattern. */
  readonly isCode: boolean
}

function firstText(input: JsonObject): string {
  const found = Object.values(input).find((value) => typeof value === "string" && value.trim() !== "")
  return typeof found === "string" ? oneLine(found, 160) : ""
}

const MAX_ARGUMENTS = 3

/** What it is about, and what else of the input is short enough to be told. */
function keyArguments(input: JsonObject): string {
  const first = firstText(input)
  const others = Object.entries(input).flatMap(([name, value]) => {
    const isShort = typeof value === "number" || typeof value === "boolean" || typeof value === "string"
    const text = isShort ? oneLine(String(value), 40) : ""
    return text === "" || text === first ? [] : [`${oneLine(name, 30)}: ${text}`]
  })
  return [first, ...others.slice(0, MAX_ARGUMENTS)].filter((part) => part !== "").join(", ")
}

/** One line for any tool, known or not. */
export function toolWords({ name, input, hasCall }: Pick<ToolRow, "name" | "input" | "hasCall">): ToolWords {
  if (!hasCall) return words("Result of an earlier call")
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path") ?? textIn(input, "path")
  const file = path === undefined ? "" : oneLine(shortPath(path, 3), 120)
  switch (name) {
    case "Bash":
      return words("$", oneLine(textIn(input, "command") ?? "", 240), true)
    case "Read":
      return words("Read", `${file}${rangeOf(input)}`, true)
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return words("Edit", file, true)
    case "Write":
      return words("Write", file, true)
    case "Glob":
    case "Grep": {
      const where = file === "" ? "" : ` in ${file}`
      return words(name === "Glob" ? "Find" : "Search", `${oneLine(textIn(input, "pattern") ?? "", 120)}${where}`, true)
    }
    case "WebFetch":
      return words("Fetch", oneLine(textIn(input, "url") ?? "", 160), true)
    case "WebSearch":
      return words("Web search", oneLine(textIn(input, "query") ?? "", 160))
    case "Task":
    case "Agent":
      return words(textIn(input, "subagent_type") ?? "Agent", oneLine(textIn(input, "description") ?? "", 160))
    case "TaskCreate":
      return words("New task", oneLine(textIn(input, "subject") ?? firstText(input), 160))
    case "TaskUpdate":
      return words(`Task ${oneLine(textIn(input, "taskId") ?? "", 20)}`.trim(), taskWords(input))
    case "TodoWrite":
      return words("To-do list", todoWords(input))
    case "AskUserQuestion":
      return words("Question", questionWords(input))
    case "ExitPlanMode":
      return words("Plan")
    case "EnterPlanMode":
      return words("Plan mode")
  }
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name)
  if (mcp !== null) return words(`${oneLine(mcp[1] ?? "", 40)} · ${oneLine(mcp[2] ?? "", 60)}`, keyArguments(input))
  return words(oneLine(name, 60), firstText(input))
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
  if (typeof input !== "object" || input === null || !("todos" in input) || !Array.isArray(input.todos)) return []
  return input.todos.map((todo: unknown) => ({
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
  const questions = input["questions"]
  return Array.isArray(questions)
    ? oneLine(questions.map((question: unknown) => textIn(question, "question") ?? "").join(" "), 200)
    : ""
}
