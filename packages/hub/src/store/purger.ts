import { setTimeout as pause } from "node:timers/promises"

/** False: there is no more to do. */
type Step = () => Promise<boolean>

export interface PurgerOptions {
  /** Delete rows, by turns. */
  readonly steps: readonly Step[]
  /** Gives freed pages back, also in between: a long purge would otherwise need room for all of it. */
  readonly shrink?: Step
  /** Has the search index forget. Nothing else waits for it: the index may be slow, or missing. */
  readonly forget: Step
  /** It is tried again later. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
}

/** A hub that starts has other things to do first. */
const START_AFTER_MS = 1_000
/** After trouble with the disk, or with the search index. */
const RETRY_MS = 60_000
/** It rests as long as it worked, so that half of the time is everybody else's, and never longer than this. */
const MAX_REST_MS = 50
/** After so many turns freed pages are given back and the search index forgets. */
const TIDY_TURNS = 100

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
    let trouble: unknown
    const forget = () => this.#each(this.#options.forget).catch((error: unknown) => void (trouble ??= error))
    let forgetting = Promise.resolve()
    try {
      while (this.#isAsked) {
        this.#isAsked = false
        await this.#deleteAll(() => {
          // One after the other; after trouble the next try is soon enough.
          forgetting = forgetting.then(() => (trouble === undefined ? forget() : undefined))
        })
        await forgetting
        // Forgetting freed some more.
        await this.#shrink()
      }
    } catch (error) {
      trouble ??= error
    }
    await forgetting
    if (trouble === undefined || this.#closing.signal.aborted) return
    // The work that is left is in the store.
    this.#options.onTrouble?.(trouble)
    this.#later(RETRY_MS)
  }

  async #deleteAll(forget: () => void): Promise<void> {
    const { steps } = this.#options
    for (let turn = 1, isMore = true; isMore; turn++) {
      isMore = false
      for (const step of steps) if (await this.#rested(step)) isMore = true
      if (isMore && turn % TIDY_TURNS > 0) continue
      forget()
      await this.#shrink()
    }
  }

  async #shrink(): Promise<void> {
    if (this.#options.shrink !== undefined) await this.#each(this.#options.shrink)
  }

  /** Until a step says that there is no more. */
  async #each(step: Step): Promise<void> {
    while (await this.#rested(step));
  }

  async #rested(step: Step): Promise<boolean> {
    const { signal } = this.#closing
    signal.throwIfAborted()
    const startedAt = performance.now()
    const isMore = await step()
    if (isMore) await pause(Math.min(MAX_REST_MS, performance.now() - startedAt), undefined, { signal })
    return isMore
  }
}
