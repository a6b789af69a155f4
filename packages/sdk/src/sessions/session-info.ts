import { open, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseObject, textOf } from "../base/wire.ts"
import { type SessionFile, sideFolder } from "./session-file.ts"
import { firstPromptIn } from "./session-summary.ts"

/** What is told of a stored session. */
export interface SDKSessionInfo {
  sessionId: string
  /** What to show in a list: the title, else the latest prompt, else a summary, else the first prompt. */
  summary: string
  /** Milliseconds since 1970. */
  lastModified: number
  fileSize?: number | undefined
  /** The title the user gave, or else the one the CLI made up. */
  customTitle?: string | undefined
  firstPrompt?: string | undefined
  gitBranch?: string | undefined
  cwd?: string | undefined
  tag?: string | undefined
  /** Milliseconds since 1970. */
  createdAt?: number | undefined
  /** Left out if nobody ever archived it. */
  archived?: boolean | undefined
}

/** Entry points of programs rather than people. */
const PROGRAMMATIC = new Set(["sdk-cli", "sdk-ts", "sdk-py"])
const MAX_SIDE_FILE_BYTES = 64 * 1024

const TITLE_FILE = "custom-title.json"
export const ARCHIVE_FILE = "archived.json"

interface InfoOptions {
  readonly includeProgrammatic: boolean
}

/** What is noted of a session outside of its lines. */
interface SideNotes {
  readonly title: () => Promise<string | undefined>
  readonly archived: () => Promise<boolean | undefined>
}

interface Described extends InfoOptions {
  readonly file: Pick<SessionFile, "sessionId" | "modifiedMs" | "size" | "project">
  readonly notes: SideNotes
}

/** The description of a session; undefined for what is none: empty, a subagent's, or without anything to call it by. */
export async function describeSession(file: SessionFile, options: InfoOptions): Promise<SDKSessionInfo | undefined> {
  const excerpt = file.size === 0 ? undefined : await readExcerpt(file.path, file.size)
  if (excerpt === undefined) return undefined
  const notes = { title: () => titleInFile(file), archived: () => isArchived(file) }
  return describeExcerpt(excerpt, { ...options, file, notes })
}

/** As `describeSession`, wherever the session is kept. */
export async function describeExcerpt(
  excerpt: Excerpt,
  { file, notes, includeProgrammatic }: Described,
): Promise<SDKSessionInfo | undefined> {
  if (beginsAside(excerpt)) return undefined
  if (!includeProgrammatic && PROGRAMMATIC.has(firstText(excerpt.head, "entrypoint") ?? "")) return undefined
  const [title, archived] = await Promise.all([titleOf(excerpt, notes.title), notes.archived()])
  const firstPrompt = firstPromptIn(excerpt.head)
  const { head, tail } = excerpt
  const summary = title || lastEntryText(tail, "lastPrompt") || lastEntryText(tail, "summary") || firstPrompt
  if (!summary) return undefined
  return {
    sessionId: file.sessionId,
    summary,
    lastModified: file.modifiedMs,
    fileSize: file.size,
    customTitle: title || undefined,
    firstPrompt: firstPrompt || undefined,
    gitBranch: lastText(tail, "gitBranch") || firstText(head, "gitBranch") || undefined,
    cwd: firstText(head, "cwd") || file.project,
    tag: lastEntryText(tail, "tag", "tag") || undefined,
    createdAt: timeOf(firstText(head, "timestamp")),
    archived,
  }
}

/** The title, or "": the user's latest, else the CLI's file of it, else an earlier one, else one the CLI made up. */
export async function titleOf({ head, tail }: Excerpt, inFile: SideNotes["title"]): Promise<string> {
  const latest = lastEntryText(tail, "customTitle", "custom-title") ?? (await inFile())
  return (
    latest ||
    lastEntryText(head, "customTitle", "custom-title") ||
    lastEntryText(tail, "aiTitle", "ai-title") ||
    lastEntryText(head, "aiTitle", "ai-title") ||
    ""
  )
}

/** A transcript whose first line is on a sidechain belongs to a subagent. */
function beginsAside({ head }: Excerpt): boolean {
  const end = head.indexOf("\n")
  return /"isSidechain":\s?true/.test(end < 0 ? head : head.slice(0, end))
}

export async function titleInFile(file: SessionFile): Promise<string | undefined> {
  return textOf(await readSideFile(file, TITLE_FILE), "customTitle")?.trim()
}

async function isArchived(file: SessionFile): Promise<boolean | undefined> {
  const note = await readSideFile(file, ARCHIVE_FILE)
  const archived = note?.["archived"]
  return typeof archived === "boolean" && timeOf(textOf(note, "at")) !== undefined ? archived : undefined
}

async function readSideFile(file: SessionFile, name: string) {
  const text = await readFile(join(sideFolder(file), name), "utf8").catch(() => "")
  return text.length > MAX_SIDE_FILE_BYTES ? undefined : parseObject(text)
}

function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

/** How much of each end is read. What lies between does not count for a session's description, as in the official SDK. */
const WINDOW_BYTES = 64 * 1024

/** Both ends of a transcript; the same text twice if the file is short. */
export interface Excerpt {
  readonly head: string
  readonly tail: string
}

export async function readExcerpt(path: string, size: number): Promise<Excerpt | undefined> {
  const file = await open(path, "r").catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const window = async (from: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(WINDOW_BYTES, size)), { position: from })
      return buffer.toString("utf8", 0, bytesRead)
    }
    const head = await window(0)
    return { head, tail: size <= WINDOW_BYTES ? head : await window(size - WINDOW_BYTES) }
  } catch {
    return undefined // gone or unreadable: there is nothing to describe
  } finally {
    await file.close().catch(() => undefined)
  }
}

/** The same of a transcript that is in memory. */
export function excerptOf(text: Buffer): Excerpt {
  const tail = text.subarray(Math.max(0, text.length - WINDOW_BYTES)).toString("utf8")
  return { head: text.subarray(0, WINDOW_BYTES).toString("utf8"), tail }
}

/** The first text under this key, at whatever depth: the excerpt may begin or end within a line, so it is not parsed. */
export function firstText(excerpt: string, key: string): string | undefined {
  const [match] = textsUnder(excerpt, key)
  return match
}

/** The last text under this key, at whatever depth. */
export function lastText(excerpt: string, key: string): string | undefined {
  let last: string | undefined
  for (const text of textsUnder(excerpt, key)) last = text
  return last
}

function* textsUnder(excerpt: string, key: string): Generator<string> {
  for (const match of excerpt.matchAll(new RegExp(`"${key}":\\s?"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"`, "g")))
    yield unescaped(match[1] ?? "")
}

/** The last text under this key in a whole line, on its top level; `type` restricts which lines count. */
export function lastEntryText(excerpt: string, key: string, type?: string): string | undefined {
  for (let end = excerpt.length; end > 0; ) {
    const at = excerpt.lastIndexOf(`"${key}"`, end - 1)
    if (at < 0) return undefined
    const start = excerpt.lastIndexOf("\n", at) + 1
    const stop = excerpt.indexOf("\n", at)
    const entry = parseObject(excerpt.slice(start, stop < 0 ? excerpt.length : stop))
    const text = textOf(entry, key)
    if (text !== undefined && (type === undefined || entry?.["type"] === type)) return text
    end = start
  }
  return undefined
}

function unescaped(raw: string): string {
  if (!raw.includes("\\")) return raw
  return textOf(parseObject(`{"text":"${raw}"}`), "text") ?? raw
}
