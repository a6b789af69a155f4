import {
  findSession,
  listedPlaces,
  type PageOptions,
  type SessionFile,
  type SessionOptions,
  sessionFilesIn,
} from "./session-file.ts"
import { describeSession, type SDKSessionInfo } from "./session-info.ts"
import { describeStored, listStored } from "./stored-session.ts"

export interface ListSessionsOptions extends PageOptions {
  /** With `dir`: also the sessions of the repository's other worktrees. Default: true. */
  includeWorktrees?: boolean
  /** Also what programs started. Default: true. */
  includeProgrammatic?: boolean
}

/** As many transcripts are looked into at once. */
const READS_AT_ONCE = 16

/** The stored sessions, the latest first: those of `dir` and its worktrees, or of all projects. */
export async function listSessions(options?: ListSessionsOptions): Promise<SDKSessionInfo[]> {
  const { dir, limit, offset, includeWorktrees = true, includeProgrammatic = true } = options ?? {}
  if (options?.sessionStore !== undefined) return listStored(options.sessionStore, options)
  const places = await listedPlaces(dir, includeWorktrees)
  const files = (await Promise.all(places.map(sessionFilesIn))).flat().sort(latestFirst)
  const skipped = offset !== undefined && offset > 0 ? Math.ceil(offset) : 0
  const wanted = limit !== undefined && limit > 0 ? skipped + Math.ceil(limit) : Number.POSITIVE_INFINITY
  const found = new Map<string, SDKSessionInfo>()
  // Read in portions, and only until there is enough: a limit on a folder of thousands must not read them all.
  for (let at = 0; at < files.length && found.size < wanted; at += READS_AT_ONCE) {
    const portion = files.slice(at, at + READS_AT_ONCE)
    const infos = await Promise.all(portion.map((file) => describeSession(file, { includeProgrammatic })))
    // A session that lies in two projects is told once, by its latest file.
    for (const info of infos) if (info !== undefined && !found.has(info.sessionId)) found.set(info.sessionId, info)
  }
  return [...found.values()].slice(skipped, wanted)
}

/** One stored session; undefined if there is none of this id. */
export async function getSessionInfo(sessionId: string, options?: SessionOptions): Promise<SDKSessionInfo | undefined> {
  if (options?.sessionStore !== undefined) return describeStored(options.sessionStore, sessionId, options)
  const file = await findSession(sessionId, options?.dir)
  return file === undefined ? undefined : describeSession(file, { includeProgrammatic: true })
}

function latestFirst(a: SessionFile, b: SessionFile): number {
  if (a.modifiedMs !== b.modifiedMs) return b.modifiedMs - a.modifiedMs
  return a.sessionId < b.sessionId ? 1 : a.sessionId > b.sessionId ? -1 : 0
}
