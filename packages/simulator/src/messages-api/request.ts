import type { IncomingHttpHeaders } from "node:http"
import { fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { objectsIn } from "../json.ts"
import type { SideReplies } from "../scenario/schema.ts"

/** One entry of `messages`, as far as the player looks into it. */
export interface Entry {
  role: string
  texts: string[]
  toolResults: string[]
  /** Results with `is_error`. */
  failedResults: string[]
}

/** A Messages API request in the terms the player needs. Whatever else a CLI sends is let through. */
export interface MessagesRequest {
  model: string
  stream: boolean
  maxTokens: number | undefined
  system: string
  tools: { name: string; isServerSide: boolean }[]
  /** The caller wants JSON of this schema. */
  outputSchema: Fields | undefined
  messages: unknown[]
  entries: Entry[]
  sessionId: string
  agentId: string | undefined
  bodyBytes: number
}

type Fields = Readonly<Record<string, unknown>>

/** The request, or undefined if the body is not one. */
export function parseRequest(body: string, headers: IncomingHttpHeaders): MessagesRequest | undefined {
  const fields = parseObject(body)
  if (fields === undefined || !Array.isArray(fields["messages"])) return undefined
  const messages: unknown[] = fields["messages"]
  return {
    model: textOf(fields, "model") ?? "unknown",
    stream: fields["stream"] === true,
    maxTokens: typeof fields["max_tokens"] === "number" ? fields["max_tokens"] : undefined,
    system: textsOf(fields["system"]).join("\n"),
    tools: objectsIn(fields["tools"]).map(toolOf),
    outputSchema: fieldOf(fieldOf(fields, "output_config")?.["format"] ?? fields["output_format"], "schema"),
    messages,
    entries: messages.filter(isObject).map(entryOf),
    sessionId: sessionOf(fields, headers),
    agentId: headerText(headers["x-claude-code-agent-id"]),
    bodyBytes: Buffer.byteLength(body),
  }
}

function entryOf(message: Fields): Entry {
  const content = message["content"]
  const results = objectsIn(content).filter((block) => block["type"] === "tool_result")
  const idOf = (block: Fields) => textOf(block, "tool_use_id") ?? ""
  return {
    role: textOf(message, "role") ?? "",
    texts: textsOf(content),
    toolResults: results.map(idOf),
    failedResults: results.filter((block) => block["is_error"] === true).map(idOf),
  }
}

/** The text blocks of a `content` or `system`, which may also be a bare string. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content]
  return objectsIn(content).flatMap((block) => textOf(block, "text") ?? [])
}

/** A tool that the API itself runs has a dated type; the CLI's own have none, or `custom`. */
function toolOf(tool: Fields): { name: string; isServerSide: boolean } {
  return { name: textOf(tool, "name") ?? "", isServerSide: (textOf(tool, "type") ?? "custom") !== "custom" }
}

/** A header in newer CLIs. Older ones only have it in `user_id`: JSON, or before that the end of a long name. */
function sessionOf(fields: Fields, headers: IncomingHttpHeaders): string {
  const header = headerText(headers["x-claude-code-session-id"])
  if (header !== undefined) return header
  const userId = textOf(fields["metadata"], "user_id") ?? ""
  return textOf(parseObject(userId), "session_id") ?? /_session_([0-9a-f-]+)$/i.exec(userId)?.[1] ?? ""
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The part of a request that the one before it in the same conversation did not have. */
export type FreshInput = Omit<Entry, "role">

/** The part of a request that is kept to tell what the next one adds. */
export type Tail = FreshInput & { assistantEntries: number }

/**
 * Everything after the model's last word. The user's text is not always in the last entry, and a CLI adds notes of its
 * own, in entries with the role `system` and in marked parts of the user's.
 */
export function tailOf(request: MessagesRequest): Tail {
  const entries = request.entries
  const last = entries.findLastIndex((entry) => entry.role === "assistant")
  const after = entries.slice(last + 1).filter((entry) => entry.role === "user")
  return {
    assistantEntries: entries.filter((entry) => entry.role === "assistant").length,
    texts: after.flatMap(spokenTexts),
    toolResults: after.flatMap((entry) => entry.toolResults),
    failedResults: after.flatMap((entry) => entry.failedResults),
  }
}

/**
 * After a call that failed, was refused or interrupted the tail still holds what had been said before it: the model's
 * side has no new entry. Only then is the old part taken off.
 */
export function freshSince(before: Tail | undefined, now: Tail): FreshInput {
  if (before === undefined || before.assistantEntries !== now.assistantEntries) return now
  const toolResults = without(now.toolResults, before.toolResults)
  return { texts: without(now.texts, before.texts), toolResults, failedResults: now.failedResults }
}

/** The user's words, apart from the notes. */
export function spokenTexts(entry: Entry): string[] {
  return entry.texts
    .map((text) => text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, spokenInNote).trim())
    .filter((text) => text !== "")
}

/** The end of a task comes inside a note, and is what the turn is about. */
function spokenInNote(note: string): string {
  return /<task-notification>[\s\S]*?<\/task-notification>/.exec(note)?.[0] ?? ""
}

function without(list: readonly string[], known: readonly string[]): string[] {
  const left = [...known]
  return list.filter((item) => {
    const at = left.indexOf(item)
    if (at === -1) return true
    left.splice(at, 1)
    return false
  })
}

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
 * Tells which side call this is, or undefined for the conversation itself. Two things are no sign of a side call: it may not
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
function fillSchema(schema: Fields, text: string): string {
  const properties = Object.entries(schema["properties"] ?? {})
  return JSON.stringify(Object.fromEntries(properties.map(([name, property]) => [name, valueFor(property, text)])))
}

function valueFor(property: unknown, text: string): unknown {
  const type = textOf(property, "type")
  if (type === "boolean") return false
  if (type === "number" || type === "integer") return 0
  if (type === "array") return []
  if (type === "object") return {}
  return text
}
