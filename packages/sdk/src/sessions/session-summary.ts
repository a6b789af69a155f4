import type { SessionKey, SessionStoreEntry, SessionSummaryEntry } from "../types/session-store.ts"
import { firstPromptOf, type PromptFound } from "./first-prompt.ts"
import { stringIn } from "./json-text.ts"
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
 * What is told of a session, kept up to date with every append: a store calls it with what it kept before and the new
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
  const time = Date.parse(stringIn(entry, "timestamp") ?? "")
  if (!Number.isNaN(time)) data["createdAt"] ??= time
  const cwd = stringIn(entry, "cwd")
  if (cwd !== undefined && cwd !== "") data["cwd"] ??= cwd
  if (data["firstPromptLocked"] !== true) notePrompt(data, firstPromptOf(entry))
  for (const [field, name] of Object.entries(LATEST)) {
    const text = stringIn(entry, field)
    if (text !== undefined) data[name] = text
  }
  if (entry.type === "tag") noteTag(data, stringIn(entry, "tag"))
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
  const firstPrompt = stringIn(data, "firstPrompt") || stringIn(data, "commandFallback")
  const title = stringIn(data, "customTitle") || stringIn(data, "aiTitle")
  const summary = title || stringIn(data, "lastPrompt") || stringIn(data, "summaryHint") || firstPrompt
  if (!summary) return undefined
  const { createdAt } = data
  return {
    sessionId,
    summary,
    lastModified: mtime,
    customTitle: title || undefined,
    firstPrompt: firstPrompt || undefined,
    gitBranch: stringIn(data, "gitBranch") || undefined,
    cwd: stringIn(data, "cwd") || dir,
    tag: stringIn(data, "tag") || undefined,
    createdAt: typeof createdAt === "number" ? createdAt : undefined,
  }
}
