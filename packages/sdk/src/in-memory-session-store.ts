import type { SessionKey, SessionStore, SessionStoreEntry } from "./types/session-store.ts"

/** A session store for tests and trials: gone with the process. */
export class InMemorySessionStore implements SessionStore {
  readonly #entries = new Map<string, { key: SessionKey; entries: SessionStoreEntry[]; mtime: number }>()

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const kept = this.#entries.get(nameOf(key))?.entries ?? []
    this.#entries.set(nameOf(key), { key, entries: [...kept, ...entries], mtime: Date.now() })
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    return this.#entries.get(nameOf(key))?.entries ?? null
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    return [...this.#entries.values()]
      .filter(({ key }) => key.projectKey === projectKey && key.subpath === undefined)
      .map(({ key, mtime }) => ({ sessionId: key.sessionId, mtime }))
  }

  /** A session goes with all that belongs to it. */
  async delete(key: SessionKey): Promise<void> {
    for (const [name, { key: kept }] of this.#entries) {
      const isOfSession = kept.projectKey === key.projectKey && kept.sessionId === key.sessionId
      if (isOfSession && (key.subpath === undefined || kept.subpath === key.subpath)) this.#entries.delete(name)
    }
  }

  async listSubkeys({ projectKey, sessionId }: { projectKey: string; sessionId: string }): Promise<string[]> {
    return [...this.#entries.values()].flatMap(({ key }) =>
      key.projectKey === projectKey && key.sessionId === sessionId && key.subpath !== undefined ? [key.subpath] : [],
    )
  }
}

function nameOf({ projectKey, sessionId, subpath = "" }: SessionKey): string {
  return JSON.stringify([projectKey, sessionId, subpath])
}
