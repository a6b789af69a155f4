import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseObject, textOf } from "../base/wire.ts"
import { type Excerpt, firstText, lastEntryText, lastText, readExcerpt } from "./excerpt.ts"
import { type SessionFile, sideFolder } from "./session-file.ts"
import { firstPromptIn } from "./session-summary.ts"

/** The facts of a stored session. */
export interface SDKSessionInfo {
  sessionId: string
  /** The text for a list: the title, else the latest prompt, else a summary, else the first prompt. */
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

/** Notes on a session outside of its lines. */
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
