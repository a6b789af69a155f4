import type { Ask } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"

/** The field of a tool's input that says most of what it would do. */
const TELLING = ["command", "file_path", "notebook_path", "url", "query", "pattern", "path", "prompt", "description"]

/** What is asked, in words. */
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
