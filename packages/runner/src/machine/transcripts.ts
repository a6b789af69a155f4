import { open, readdir, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { fieldOf, parseObject, textOf } from "@signalbox/protocol/envelope"

type Environment = Readonly<Record<string, string | undefined>>

/** A conversation as the CLI wrote it down. */
export interface TranscriptFile {
  readonly sessionId: string
  readonly path: string
  readonly sizeBytes: number
  readonly modifiedMs: number
}

/** The CLI cuts longer names of folders and adds a hash; those are found by looking into all of them. */
const MAX_NAME_CHARS = 200
const MAX_FOLDERS = 10_000
const MAX_FILES = 20_000
/** How much of each end is read: what lies between does not count for a description. */
const WINDOW_BYTES = 64 * 1024
const MAX_SUMMARY_CHARS = 200
const SUFFIX = ".jsonl"

/** Where the CLI keeps what it knows, in this environment. */
export function configFolder(env: Environment): string {
  const named = env["CLAUDE_CONFIG_DIR"]
  return named === undefined || named === "" ? join(env["HOME"] || homedir(), ".claude") : named
}

/** The transcript of a session, wherever it was recorded; looked for first where it should be. */
export async function findTranscript(
  sessionId: string,
  { env, cwd }: { env: Environment; cwd: string | undefined },
): Promise<TranscriptFile | undefined> {
  // An id is never a path.
  if (!/^[\w-]+$/.test(sessionId)) return undefined
  const root = join(configFolder(env), "projects")
  const own = cwd === undefined ? [] : [await projectFolderName(cwd)]
  const folders = [...own, ...(await folderNames(root)).slice(0, MAX_FOLDERS)]
  for (const folder of folders) {
    const found = await transcriptAt(join(root, folder, `${sessionId}${SUFFIX}`))
    if (found !== undefined) return found
  }
  return undefined
}

/** The conversations recorded in one folder, or in all; the newest first. */
export async function listTranscripts(env: Environment, cwd: string | undefined): Promise<TranscriptFile[]> {
  const root = join(configFolder(env), "projects")
  const folders = cwd === undefined ? await folderNames(root) : await projectFolders(root, cwd)
  const files: TranscriptFile[] = []
  for (const folder of folders.slice(0, MAX_FOLDERS)) {
    const names = (await readdir(join(root, folder)).catch(() => [])).filter((name) => name.endsWith(SUFFIX))
    const found = await Promise.all(names.map((name) => transcriptAt(join(root, folder, name))))
    files.push(...found.flatMap((file) => file ?? []))
    if (files.length >= MAX_FILES) break
  }
  return files.sort((a, b) => b.modifiedMs - a.modifiedMs)
}

/** A transcript's facts about itself, at its ends. */
export interface TranscriptDescription {
  /** Where its conversation was at work. */
  readonly cwd: string | undefined
  readonly summary: string | undefined
  /** True for a helper of another conversation, which cannot be resumed. */
  readonly isAside: boolean
}

export async function describeTranscript(file: TranscriptFile): Promise<TranscriptDescription> {
  const entries = await endsOf(file)
  let [cwd, title, lastPrompt, summary, firstPrompt]: (string | undefined)[] = []
  for (const entry of entries) {
    cwd ??= textOf(entry, "cwd")
    title = textOf(entry, "customTitle") ?? title ?? textOf(entry, "aiTitle")
    lastPrompt = textOf(entry, "lastPrompt") ?? lastPrompt
    summary = textOf(entry, "summary") ?? summary
    firstPrompt ??= promptOf(entry)
  }
  return {
    cwd,
    summary: (title ?? lastPrompt ?? summary ?? firstPrompt)
      ?.trim()
      .replaceAll(/\s+/g, " ")
      .slice(0, MAX_SUMMARY_CHARS),
    isAside: entries[0]?.["isSidechain"] === true,
  }
}

/** The CLI names a project's folder after its path, links resolved. */
async function projectFolderName(cwd: string): Promise<string> {
  const path = await realpath(cwd).catch(() => cwd)
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-").slice(0, MAX_NAME_CHARS)
}

async function projectFolders(root: string, cwd: string): Promise<string[]> {
  const name = await projectFolderName(cwd)
  if (name.length < MAX_NAME_CHARS) return [name]
  return (await folderNames(root)).filter((each) => each.startsWith(name))
}

async function folderNames(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

async function transcriptAt(path: string): Promise<TranscriptFile | undefined> {
  const file = await stat(path).catch(() => undefined)
  if (file === undefined || !file.isFile() || file.size === 0) return undefined
  const sessionId = path.slice(path.lastIndexOf("/") + 1, -SUFFIX.length)
  return { sessionId, path, sizeBytes: file.size, modifiedMs: file.mtimeMs }
}

/** The entries at both ends that are whole. */
async function endsOf({ path, sizeBytes }: TranscriptFile): Promise<Readonly<Record<string, unknown>>[]> {
  const file = await open(path, "r").catch(() => undefined)
  if (file === undefined) return []
  try {
    const read = async (position: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(WINDOW_BYTES), { position })
      return buffer.toString("utf8", 0, bytesRead)
    }
    const head = await read(0)
    const tail = sizeBytes <= WINDOW_BYTES ? "" : await read(Math.max(WINDOW_BYTES, sizeBytes - WINDOW_BYTES))
    // Lines that the windows cut are no JSON.
    const entries = `${head}\n${tail}`.split("\n").map((line) => parseObject(line))
    return entries.filter((entry) => entry !== undefined)
  } catch {
    return [] // gone or unreadable: there is nothing to describe
  } finally {
    await file.close()
  }
}

/** The words of a person: not the results of tools, nor what the CLI put in by itself. */
function promptOf(entry: Readonly<Record<string, unknown>>): string | undefined {
  if (entry["type"] !== "user" || entry["isMeta"] === true || entry["isSidechain"] === true) return undefined
  const content = fieldOf(entry, "message")?.["content"]
  const text = Array.isArray(content)
    ? content
        .map((block: unknown) => (textOf(block, "type") === "text" ? textOf(block, "text") : undefined))
        .find(Boolean)
    : content
  return typeof text === "string" && text !== "" && !text.startsWith("<") ? text : undefined
}
