/** Where one transcript is kept. */
export interface SessionKey {
  projectKey: string
  sessionId: string
  subpath?: string
}

export type SessionStoreEntry = Record<string, unknown> & { type: string; uuid?: string; timestamp?: string }

/** A copy of the transcripts somewhere else. Designed, and not delivered yet: `sdk/not-yet`. */
export interface SessionStore {
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  listSessionSummaries?(projectKey: string): Promise<unknown[]>
  delete?(key: SessionKey): Promise<void>
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>
}
