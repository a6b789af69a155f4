import { setTimeout as pause } from "node:timers/promises"

export interface PurgerOptions {
  /** In their order, each until it says that there is no more to do. The last waits for nothing else. */
  readonly steps: readonly (() => Promise<boolean>)[]
  /** It is tried again later. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
}

/** A hub that starts has other things to do first. */
const START_AFTER_MS = 1_000
/** After trouble with the disk, or with the search index. */
const RETRY_MS = 60_000
/** It rests as long as it worked, so that half of the time is everybody else's, and never longer than this. */
const MAX_REST_MS = 50

/**
 * Deletes what purged sessions leave behind, in steps of a few milliseconds, each a commit of its own that others' writes share. What
 * is to be done is in the store: it goes on where it was after a restart.
 */
export class Purger {
  readonly #options: PurgerOptions
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  /** Somebody purged something since the work began. */
  #isAsked = false

  constructor(options: PurgerOptions) {
    this.#options = options
    this.#later(START_AFTER_MS)
  }

  /** Something was purged. */
  wake(): void {
    this.#isAsked = true
    if (this.#working !== undefined || this.#closing.signal.aborted) return
    clearTimeout(this.#timer)
    this.#working = this.#work().finally(() => {
      this.#working = undefined
    })
  }

  /** Resolves when nothing is under way: all is deleted, or it waits for the next try. */
  async settled(): Promise<void> {
    while (this.#working !== undefined) await this.#working
  }

  /** Ends after the step that is under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#timer)
    await this.#working
  }

  #later(ms: number): void {
    if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => this.wake(), ms).unref()
  }

  async #work(): Promise<void> {
    try {
      while (this.#isAsked) {
        this.#isAsked = false
        for (const step of this.#options.steps) await this.#each(step)
      }
    } catch (error) {
      if (this.#closing.signal.aborted) return
      // The work that is left is in the store.
      this.#options.onTrouble?.(error)
      this.#later(RETRY_MS)
    }
  }

  /** Until a step says that there is no more. */
  async #each(step: () => Promise<boolean>): Promise<void> {
    const { signal } = this.#closing
    for (;;) {
      signal.throwIfAborted()
      const startedAt = performance.now()
      if (!(await step())) return
      await pause(Math.min(MAX_REST_MS, performance.now() - startedAt), undefined, { signal })
    }
  }
}
