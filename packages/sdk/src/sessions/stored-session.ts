import { randomUUID } from "node:crypto"
import { SessionError } from "../base/errors.ts"
import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from "../types/session-store.ts"
import { excerptOfEntries } from "./excerpt.ts"
import { projectKeyOf } from "./project-folder.ts"
import { isSessionId, type PageOptions, pageOf, type SessionOptions } from "./session-file.ts"
import { describeExcerpt, type SDKSessionInfo } from "./session-info.ts"
import { infoOfSummary } from "./session-summary.ts"

/** As many sessions are loaded at once. */
const LOADS_AT_ONCE = 16

interface Listed {
  readonly sessionId: string
  readonly mtime: number
}

/** A store's key of a session of this project. */
export async function storedKey(sessionId: string, options: SessionOptions): Promise<SessionKey> {
  return { projectKey: await projectKeyOf(options.dir || process.cwd()), sessionId }
}

/** The lines of a session in a store; none if it has no such session. */
export async function loadStored(
  store: SessionStore,
  sessionId: string,
  options: SessionOptions,
): Promise<SessionStoreEntry[]> {
  if (!isSessionId(sessionId)) return []
  return (await store.load(await storedKey(sessionId, options))) ?? []
}

/** Adds a note about a session. Whether the store has one of this id is for the store to know. */
export async function appendStored(
  store: SessionStore,
  key: SessionKey,
  note: Readonly<Record<string, unknown>> & { readonly type: string },
): Promise<void> {
  await store.append(key, [{ ...note, uuid: randomUUID(), timestamp: new Date().toISOString() }])
}

export async function describeStored(
  store: SessionStore,
  sessionId: string,
  options: SessionOptions,
): Promise<SDKSessionInfo | undefined> {
  const entries = await loadStored(store, sessionId, options)
  const time = Date.parse(entries.at(-1)?.timestamp ?? "")
  return describeEntries(entries, { sessionId, mtime: Number.isNaN(time) ? Date.now() : time })
}

/** The page is cut before anything is loaded: a limit on a store of thousands must not load them all. */
export async function listStored(store: SessionStore, options: PageOptions): Promise<SDKSessionInfo[]> {
  const dir = options.dir || process.cwd()
  const projectKey = await projectKeyOf(dir)
  const summaries = new Map(((await store.listSessionSummaries?.(projectKey)) ?? []).map((one) => [one.sessionId, one]))
  const listed = await sessionsOf(store, projectKey, summaries)
  const page = pageOf(
    listed.toSorted((a, b) => b.mtime - a.mtime),
    options,
  )
  const found: (SDKSessionInfo | undefined)[] = []
  for (let at = 0; at < page.length; at += LOADS_AT_ONCE) {
    const infos = page.slice(at, at + LOADS_AT_ONCE).map(async ({ sessionId, mtime }) => {
      const summary = summaries.get(sessionId)
      // One that is older than its session was missed by an append, and says what was true then.
      if (summary !== undefined && summary.mtime >= mtime) return infoOfSummary(summary, dir)
      const entries = (await store.load({ projectKey, sessionId })) ?? []
      const info = await describeEntries(entries, { sessionId, mtime })
      return info === undefined ? undefined : { ...info, cwd: info.cwd ?? dir }
    })
    found.push(...(await Promise.all(infos)))
  }
  return found.filter((info) => info !== undefined)
}

async function sessionsOf(
  store: SessionStore,
  projectKey: string,
  summaries: ReadonlyMap<string, SessionSummaryEntry>,
): Promise<Listed[]> {
  if (store.listSessions === undefined) {
    if (store.listSessionSummaries !== undefined) return [...summaries.values()]
    throw missing("listSessions", "list sessions")
  }
  return store.listSessions(projectKey)
}

/** A store that lacks what was asked for. */
export function missing(method: string, what: string): SessionError {
  const message = `sessionStore.${method} is not implemented -- cannot ${what}. Provide a store with a ${method}() method.`
  return new SessionError("session/unsupported", message)
}

/** A store has no files beside a transcript. */
const NO_NOTES = { title: async () => undefined, archived: async () => undefined }

async function describeEntries(
  entries: readonly SessionStoreEntry[],
  { sessionId, mtime }: Listed,
): Promise<SDKSessionInfo | undefined> {
  if (entries.length === 0) return undefined
  const { excerpt, size } = excerptOfEntries(entries)
  const file = { sessionId, modifiedMs: mtime, size, project: undefined }
  return describeExcerpt(excerpt, { file, notes: NO_NOTES, includeProgrammatic: true })
}
