import type { SideReplies } from "../scenario/schema.ts"
import type { MessagesRequest } from "./request.ts"

/** A call a CLI makes beside the conversation. `check` is the one-token question whether a model can be used. */
export type SideKind = "check" | keyof SideReplies

export const sideDefaults: Required<SideReplies> = {
  title: "Scripted session",
  bashPrefix: "none",
  filePaths: "<is_displaying_contents>\nfalse\n</is_displaying_contents>\n\n<filepaths>\n</filepaths>",
  compact: "<summary>\nThe conversation so far was scripted.\n</summary>",
  webSearch: "Nothing was searched: this is a scripted API.",
  agent: "Done.",
  other: "OK",
}

/** Seen in 2.1.37, 2.1.120 and 2.1.325, in the system prompt of the call. */
const PROMPTS: readonly (readonly [RegExp, SideKind])[] = [
  [/process Bash commands that an AI coding agent wants to run/, "bashPrefix"],
  [/^Extract any file paths that this command/m, "filePaths"],
  [/tasked with summarizing conversations/, "compact"],
  [/sentence-case title|naming a coding session/, "title"],
  [/performing a web search tool use|run a web search for another/, "webSearch"],
]

/** The summary is asked for as the user, with all tools at hand, from some version on. */
const SUMMARY_REQUEST = /Your task is to create a detailed summary of/

/**
 * Which side call this is, or undefined for the conversation itself. Two things are no sign of a side call: it may not
 * stream (that is how a CLI asks again after a broken stream), and a session may have no tools at all. So a call
 * without tools only counts as one where the session is known to have tools, or the call has another mark.
 */
export function sideKindOf(request: MessagesRequest, sessionHasTools: boolean): SideKind | undefined {
  if (request.maxTokens === 1) return "check"
  const known = PROMPTS.find(([prompt]) => prompt.test(request.system))?.[1]
  if (known !== undefined) return known
  if (lastUserText(request).some((text) => SUMMARY_REQUEST.test(text))) return "compact"
  if (request.tools.length > 0) return request.tools.every((tool) => tool.isServerSide) ? "webSearch" : undefined
  const marked = sessionHasTools || request.outputSchema !== undefined || /haiku/.test(request.model)
  return marked ? "other" : undefined
}

export function sideReplyText(kind: SideKind, request: MessagesRequest, configured: SideReplies = {}): string {
  const key = kind === "check" ? "other" : kind
  const text = configured[key] ?? sideDefaults[key]
  // A configured text that is JSON already is taken at its word.
  return request.outputSchema === undefined || text.startsWith("{") ? text : fillSchema(request.outputSchema, text)
}

function lastUserText(request: MessagesRequest): string[] {
  return request.entries.findLast((entry) => entry.role === "user")?.texts ?? []
}

/** The smallest object of the schema, its strings filled with the text. */
function fillSchema(schema: Record<string, unknown>, text: string): string {
  const properties = Object.entries(schema["properties"] ?? {})
  return JSON.stringify(Object.fromEntries(properties.map(([name, property]) => [name, valueFor(property, text)])))
}

function valueFor(property: unknown, text: string): unknown {
  const type: unknown =
    typeof property === "object" && property !== null && "type" in property ? property.type : "string"
  if (type === "boolean") return false
  if (type === "number" || type === "integer") return 0
  if (type === "array") return []
  if (type === "object") return {}
  return text
}
