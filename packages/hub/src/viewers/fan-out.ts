import type { SessionView } from "../core.ts"
import type { Ask } from "../model/ask.ts"
import type { Published } from "../session/pipeline.ts"

/** Somebody who watches. Whatever it does with what it is told, it does it at once and does not wait. */
export interface Watcher {
  readonly published?: (sessionId: string, items: readonly Published[]) => void
  readonly asked?: (ask: Ask) => void
  readonly changed?: (view: SessionView) => void
}

/** Who watches what. One publication is handed to each watcher as the same object: nothing is encoded twice. */
export class FanOut {
  readonly #bySession = new Map<string, Set<Watcher>>()
  readonly #ofAll = new Set<Watcher>()

  /** Events and deltas of one session, its asks and changes. Returns what ends it. */
  watch(sessionId: string, watcher: Watcher): () => void {
    const watchers = this.#bySession.get(sessionId) ?? new Set()
    watchers.add(watcher)
    this.#bySession.set(sessionId, watchers)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#bySession.get(sessionId) === watchers) this.#bySession.delete(sessionId)
    }
  }

  /** Everything of every session. */
  watchAll(watcher: Watcher): () => void {
    this.#ofAll.add(watcher)
    return () => void this.#ofAll.delete(watcher)
  }

  countOf(sessionId: string): number {
    return this.#bySession.get(sessionId)?.size ?? 0
  }

  published(sessionId: string, items: readonly Published[]): void {
    this.#each(sessionId, (watcher) => watcher.published?.(sessionId, items))
  }

  asked(ask: Ask): void {
    this.#each(ask.sessionId, (watcher) => watcher.asked?.(ask))
  }

  changed(view: SessionView): void {
    this.#each(view.id, (watcher) => watcher.changed?.(view))
  }

  #each(sessionId: string, tell: (watcher: Watcher) => void): void {
    for (const watcher of this.#bySession.get(sessionId) ?? []) tell(watcher)
    for (const watcher of this.#ofAll) tell(watcher)
  }
}
