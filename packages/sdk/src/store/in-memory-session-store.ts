import type { SessionKey, SessionStore, SessionStoreEntry, SessionSummaryEntry } from "../types/session-store.ts"

interface Kept {
  readonly key: SessionKey
  readonly entries: SessionStoreEntry[]
  mtime: number
}

/** A session store for tests and trials: gone with the process. */
export class InMemorySessionStore implements SessionStore {
  readonly #kept = new Map<string, Kept>()
  #latest = 0

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const kept = this.#kept.get(nameOf(key)) ?? { key, entries: [], mtime: 0 }
    // Two in one millisecond would have no order.
    this.#latest = Math.max(Date.now(), this.#latest + 1)
    kept.entries.push(...entries)
    kept.mtime = this.#latest
    this.#kept.set(nameOf(key), kept)
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const kept = this.#kept.get(nameOf(key))
    return kept === undefined ? null : [...kept.entries]
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    return this.#sessionsOf(projectKey).map(({ key, mtime }) => ({ sessionId: key.sessionId, mtime }))
  }

  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const { foldSessionSummary } = await import("../sessions/session-summary.ts")
    return this.#sessionsOf(projectKey).map(({ key, entries, mtime }) =>
      foldSessionSummary(undefined, key, entries, { mtime }),
    )
  }

  /** A session goes with all that belongs to it. */
  async delete(key: SessionKey): Promise<void> {
    for (const [name, { key: kept }] of this.#kept) {
      const isOfSession = kept.projectKey === key.projectKey && kept.sessionId === key.sessionId
      if (isOfSession && (key.subpath === undefined || kept.subpath === key.subpath)) this.#kept.delete(name)
    }
  }

  async listSubkeys({ projectKey, sessionId }: { projectKey: string; sessionId: string }): Promise<string[]> {
    return [...this.#kept.values()].flatMap(({ key }) =>
      key.projectKey === projectKey && key.sessionId === sessionId && key.subpath !== undefined ? [key.subpath] : [],
    )
  }

  /** For tests: what is kept under a key. */
  getEntries(key: SessionKey): SessionStoreEntry[] {
    return [...(this.#kept.get(nameOf(key))?.entries ?? [])]
  }

  /** For tests: how many sessions there are, subagents not counted. */
  get size(): number {
    return [...this.#kept.values()].filter(({ key }) => key.subpath === undefined).length
  }

  clear(): void {
    this.#kept.clear()
  }

  #sessionsOf(projectKey: string): Kept[] {
    return [...this.#kept.values()].filter(({ key }) => key.projectKey === projectKey && key.subpath === undefined)
  }
}

function nameOf({ projectKey, sessionId, subpath = "" }: SessionKey): string {
  return JSON.stringify([projectKey, sessionId, subpath])
}
