import { lstat, readdir, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { SessionError } from "../base/errors.ts"
import type { SessionStore } from "../types/session-store.ts"
import { allProjectFolders, canonicalPath, projectFolders, worktreesOf } from "./project-folder.ts"

export interface SessionOptions {
  /** The working directory whose project is meant; left out: all projects, or with a store that of this process. */
  dir?: string
  /** Where the sessions are kept, if not on this disk. */
  sessionStore?: SessionStore
}

export interface PageOptions extends SessionOptions {
  /** 0 and less: no limit. */
  limit?: number
  offset?: number
}

export function pageOf<T>(all: readonly T[], { limit, offset }: PageOptions): T[] {
  const start = offset !== undefined && offset > 0 ? offset : 0
  return all.slice(start, limit !== undefined && limit > 0 ? start + limit : undefined)
}

export type GetSessionInfoOptions = SessionOptions
export type ListSubagentsOptions = SessionOptions
export type SessionMutationOptions = SessionOptions

/** One transcript on disk. */
export interface SessionFile {
  readonly sessionId: string
  readonly path: string
  readonly size: number
  /** Whole milliseconds since 1970. */
  readonly modifiedMs: number
  /** The working directory that it was looked for by. */
  readonly project: string | undefined
}

/** A folder with transcripts in it. */
interface Place {
  readonly folder: string
  readonly project: string | undefined
}

interface FindOptions {
  /** For those who only read. A link could lead anywhere, and is not written through. */
  readonly withLinks?: boolean
}

const ENDING = ".jsonl"
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Ids become parts of paths, so that nothing but a UUID may pass. */
export function isSessionId(id: unknown): boolean {
  return typeof id === "string" && UUID.test(id)
}

/** The session's transcript: in the folder's project and in those of its worktrees, or anywhere if no folder is named. */
export async function findSession(
  sessionId: string,
  dir?: string,
  options: FindOptions = {},
): Promise<SessionFile | undefined> {
  if (!isSessionId(sessionId)) return undefined
  if (!dir) return firstWith(sessionId, await allPlaces({ withLinks: true }), options)
  const path = await canonicalPath(dir)
  const own = await firstWith(sessionId, await placesOf(path), options)
  return own ?? firstWith(sessionId, await worktreePlaces(path, await worktreesOf(path)), options)
}

export function requireSessionId(sessionId: string): void {
  if (!isSessionId(sessionId)) throw new SessionError("session/bad-id", `Invalid sessionId: ${sessionId}`)
}

/** As `findSession`, for those who need it: a session that is not there is an error. */
export async function requireSession(sessionId: string, dir?: string, options?: FindOptions): Promise<SessionFile> {
  requireSessionId(sessionId)
  const found = await findSession(sessionId, dir, options)
  if (found !== undefined) return found
  const where = dir ? `in project directory for ${dir}` : "in any project directory"
  throw new SessionError("session/not-found", `Session ${sessionId} not found ${where}`)
}

/** The places whose sessions are listed for a folder; all there are if none is named. */
export async function listedPlaces(dir: string | undefined, withWorktrees: boolean): Promise<Place[]> {
  if (!dir) return allPlaces({ withLinks: false })
  const path = await canonicalPath(dir)
  const own = await placesOf(path)
  if (!withWorktrees) return own
  const worktrees = await worktreesOf(path)
  // A repository without further worktrees is no reason to list the sessions of its root beside those of a subfolder.
  if (worktrees.length <= 1) return own
  const others = await worktreePlaces(path, worktrees)
  return [...own, ...others.filter(({ folder }) => !own.some((place) => place.folder === folder))]
}

/** The transcripts in one place. */
export async function sessionFilesIn(place: Place): Promise<SessionFile[]> {
  const entries = await readdir(place.folder, { withFileTypes: true }).catch(() => [])
  const ids = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ENDING))
    .map((entry) => basename(entry.name, ENDING))
    .filter(isSessionId)
  const files = await Promise.all(ids.map((id) => look(place, id)))
  return files.filter((file) => file !== undefined)
}

/** The folder beside a transcript, for what the CLI keeps of this session elsewhere than in its lines. */
export function sideFolder(file: SessionFile): string {
  return file.path.slice(0, -ENDING.length)
}

async function placesOf(project: string): Promise<Place[]> {
  return (await projectFolders(project)).map((folder) => ({ folder, project }))
}

async function allPlaces(options: { withLinks: boolean }): Promise<Place[]> {
  return (await allProjectFolders(options)).map((folder) => ({ folder, project: undefined }))
}

async function worktreePlaces(path: string, worktrees: readonly string[]): Promise<Place[]> {
  const others = worktrees.filter((worktree) => worktree !== path)
  return (await Promise.all(others.map(placesOf))).flat()
}

async function firstWith(
  sessionId: string,
  places: readonly Place[],
  options: FindOptions,
): Promise<SessionFile | undefined> {
  for (const place of places) {
    const file = await look(place, sessionId, options)
    // An empty file is what a CLI leaves that never came to say anything; the session may live elsewhere.
    if (file !== undefined && file.size > 0) return file
  }
  return undefined
}

async function look(
  { folder, project }: Place,
  sessionId: string,
  { withLinks = false }: FindOptions = {},
): Promise<SessionFile | undefined> {
  const path = join(folder, `${sessionId}${ENDING}`)
  const found = await (withLinks ? stat(path) : lstat(path)).catch(() => undefined)
  if (found === undefined || !found.isFile()) return undefined
  return { sessionId, path, size: found.size, modifiedMs: found.mtime.getTime(), project }
}
