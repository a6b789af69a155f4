import { fieldOf, isObject, parseObject, textOf } from "../base/wire.ts"
import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from "../types/session-store.ts"
import type { SDKSessionInfo } from "./session-info.ts"

/** Fields of an entry whose latest text counts, and what they are called in a summary. */
const LATEST: Readonly<Record<string, string>> = {
  customTitle: "customTitle",
  aiTitle: "aiTitle",
  lastPrompt: "lastPrompt",
  summary: "summaryHint",
  gitBranch: "gitBranch",
}

/**
 * A session's facts, kept up to date with every append: a store calls it with what it kept before and the new
 * entries. The names in `data` are the official package's, so that a store filled by one can be read by the other.
 */
export function foldSessionSummary(
  previous: SessionSummaryEntry | undefined,
  key: SessionKey,
  entries: SessionStoreEntry[],
  options: { mtime?: number } = {},
): SessionSummaryEntry {
  const data = { ...previous?.data }
  for (const entry of entries) fold(data, entry)
  return {
    sessionId: previous?.sessionId ?? key.sessionId,
    mtime: options.mtime ?? previous?.mtime ?? 0,
    data,
  }
}

function fold(data: Record<string, unknown>, entry: SessionStoreEntry): void {
  data["isSidechain"] ??= entry["isSidechain"] === true
  const time = Date.parse(textOf(entry, "timestamp") ?? "")
  if (!Number.isNaN(time)) data["createdAt"] ??= time
  const cwd = textOf(entry, "cwd")
  if (cwd !== undefined && cwd !== "") data["cwd"] ??= cwd
  if (data["firstPromptLocked"] !== true) notePrompt(data, firstPromptOf(entry))
  for (const [field, name] of Object.entries(LATEST)) {
    const text = textOf(entry, field)
    if (text !== undefined) data[name] = text
  }
  if (entry.type === "tag") noteTag(data, textOf(entry, "tag"))
}

function notePrompt(data: Record<string, unknown>, found: PromptFound): void {
  if (found.command !== undefined) data["commandFallback"] ??= found.command
  if (found.prompt === undefined) return
  data["firstPrompt"] = found.prompt
  data["firstPromptLocked"] = true
}

function noteTag(data: Record<string, unknown>, tag: string | undefined): void {
  if (tag === undefined) return
  if (tag === "") delete data["tag"]
  else data["tag"] = tag
}

/** A summary as a list shows it; undefined for what is no session, as with one that is read. */
export function infoOfSummary(
  { sessionId, mtime, data }: SessionSummaryEntry,
  dir: string | undefined,
): SDKSessionInfo | undefined {
  if (data["isSidechain"] === true) return undefined
  const firstPrompt = textOf(data, "firstPrompt") || textOf(data, "commandFallback")
  const title = textOf(data, "customTitle") || textOf(data, "aiTitle")
  const summary = title || textOf(data, "lastPrompt") || textOf(data, "summaryHint") || firstPrompt
  if (!summary) return undefined
  const { createdAt } = data
  return {
    sessionId,
    summary,
    lastModified: mtime,
    customTitle: title || undefined,
    firstPrompt: firstPrompt || undefined,
    gitBranch: textOf(data, "gitBranch") || undefined,
    cwd: textOf(data, "cwd") || dir,
    tag: textOf(data, "tag") || undefined,
    createdAt: typeof createdAt === "number" ? createdAt : undefined,
  }
}

const MAX_CHARS = 200

/** Lines that hold no prompt of a person. They are told by their text: one of these fields anywhere in them will do. */
const NOT_A_PROMPT = /"tool_result"|"isMeta":\s?true|"isCompactSummary":\s?true/
const COMMAND = /<command-name>(.*?)<\/command-name>/
const SHELL = /<bash-input>(.*?)<\/bash-input>/
/** Text that the CLI puts into user messages by itself: something in tags, or the note of an interruption. */
const GENERATED = /^<[a-z][\w-]*[\s>]|^\[Request interrupted by user[^\]]*\]/

/** One entry's part of it. */
interface PromptFound {
  readonly prompt?: string
  /** A slash command; it counts only if nothing else was asked. */
  readonly command?: string
}

const NOTHING: PromptFound = {}

/** The user's first question, shortened; a slash command only if nothing else was asked. */
export function firstPromptIn(head: string): string | undefined {
  let command: string | undefined
  for (const line of head.split("\n")) {
    if (!/"type":\s?"user"/.test(line)) continue
    const found = promptIn(line, () => parseObject(line))
    if (found.prompt !== undefined) return found.prompt
    command ||= found.command
  }
  return command === "" ? undefined : command
}

function firstPromptOf(entry: Readonly<Record<string, unknown>>): PromptFound {
  return entry["type"] === "user" ? promptIn(JSON.stringify(entry), () => entry) : NOTHING
}

function promptIn(line: string, parse: () => Readonly<Record<string, unknown>> | undefined): PromptFound {
  if (NOT_A_PROMPT.test(line)) return NOTHING
  let command: string | undefined
  for (const text of textsOf(parse())) {
    const prompt = text.replaceAll("\n", " ").trim()
    if (prompt === "") continue
    const named = COMMAND.exec(prompt)?.[1]
    if (named !== undefined) {
      command ||= named
      continue
    }
    const shell = SHELL.exec(prompt)?.[1]
    if (shell !== undefined) return { prompt: `! ${shell.trim()}` }
    if (!GENERATED.test(prompt)) return { prompt: shortened(prompt), ...(command === undefined ? {} : { command }) }
  }
  return command === undefined ? NOTHING : { command }
}

function textsOf(entry: Readonly<Record<string, unknown>> | undefined): string[] {
  if (entry?.["type"] !== "user") return []
  const content = fieldOf(entry, "message")?.["content"]
  if (typeof content === "string") return [content]
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((block) => (block["type"] === "text" ? (textOf(block, "text") ?? []) : []))
}

function shortened(prompt: string): string {
  if (prompt.length <= MAX_CHARS) return prompt
  // A character of two units may lie on the cut; half of one is no text.
  return `${prompt
    .slice(0, MAX_CHARS)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim()}…`
}
