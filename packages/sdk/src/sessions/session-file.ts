import { lstat, readdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { SessionError } from "../errors.ts"
import { allProjectFolders, canonicalPath, projectFolders } from "./project-folder.ts"
import { worktreesOf } from "./worktrees.ts"

/** One transcript on disk. */
export interface SessionFile {
  readonly sessionId: string
  readonly path: string
  readonly size: number
  /** Whole milliseconds since 1970. */
  readonly modifiedMs: number
}

const ENDING = ".jsonl"
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Ids become parts of paths, so that nothing but a UUID may pass. */
export function isSessionId(id: unknown): boolean {
  return typeof id === "string" && UUID.test(id)
}

/** The session's transcript: in the folder's project and in those of its worktrees, or anywhere if no folder is named. */
export async function findSession(sessionId: string, dir?: string): Promise<SessionFile | undefined> {
  if (!isSessionId(sessionId)) return undefined
  if (!dir) return firstWith(sessionId, await allProjectFolders({ withLinks: true }))
  const path = await canonicalPath(dir)
  const own = await firstWith(sessionId, await projectFolders(path))
  return own ?? firstWith(sessionId, await worktreeFolders(path, await worktreesOf(path)))
}

export function requireSessionId(sessionId: string): void {
  if (!isSessionId(sessionId)) throw new SessionError("session/bad-id", `Invalid sessionId: ${sessionId}`)
}

/** As `findSession`, for those who are going to write: a session that is not there is an error. */
export async function requireSession(sessionId: string, dir?: string): Promise<SessionFile> {
  requireSessionId(sessionId)
  const found = await findSession(sessionId, dir)
  if (found !== undefined) return found
  const where = dir ? `in project directory for ${dir}` : "in any project directory"
  throw new SessionError("session/not-found", `Session ${sessionId} not found ${where}`)
}

/** The project folders whose sessions are listed for a folder; all there are if none is named. */
export async function listedFolders(dir: string | undefined, withWorktrees: boolean): Promise<string[]> {
  if (!dir) return allProjectFolders({ withLinks: false })
  const path = await canonicalPath(dir)
  const own = await projectFolders(path)
  if (!withWorktrees) return own
  const worktrees = await worktreesOf(path)
  // A repository without further worktrees is no reason to list the sessions of its root beside those of a subfolder.
  return worktrees.length > 1 ? [...new Set([...own, ...(await worktreeFolders(path, worktrees))])] : own
}

/** The transcripts in one project's folder. */
export async function sessionFilesIn(folder: string): Promise<SessionFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const ids = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ENDING))
    .map((entry) => basename(entry.name, ENDING))
    .filter(isSessionId)
  const files = await Promise.all(ids.map((id) => look(folder, id)))
  return files.filter((file) => file !== undefined)
}

/** The folder beside a transcript, for what the CLI keeps of this session elsewhere than in its lines. */
export function sideFolder(file: SessionFile): string {
  return file.path.slice(0, -ENDING.length)
}

async function worktreeFolders(path: string, worktrees: readonly string[]): Promise<string[]> {
  const others = worktrees.filter((worktree) => worktree !== path)
  return (await Promise.all(others.map(projectFolders))).flat()
}

async function firstWith(sessionId: string, folders: readonly string[]): Promise<SessionFile | undefined> {
  for (const folder of folders) {
    const file = await look(folder, sessionId)
    // An empty file is what a CLI leaves that never came to say anything; the session may live elsewhere.
    if (file !== undefined && file.size > 0) return file
  }
  return undefined
}

async function look(folder: string, sessionId: string): Promise<SessionFile | undefined> {
  const path = join(folder, `${sessionId}${ENDING}`)
  const found = await lstat(path).catch(() => undefined)
  // A link could lead anywhere, and some of these functions write.
  if (found === undefined || !found.isFile()) return undefined
  return { sessionId, path, size: found.size, modifiedMs: found.mtime.getTime() }
}
