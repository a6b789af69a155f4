import type { KeptSession } from "../model/session-record.ts"
import type { Directory } from "../store/directory.ts"
import type { LiveSession } from "./live-session.ts"

export interface LoadedSessionsOptions {
  readonly directory: Pick<Directory, "getSession">
  readonly open: (kept: KeptSession) => LiveSession
  /** Brings back what is on its way in a session beside its messages: open asks, answers, grants. May be called again. */
  readonly restore?: (session: LiveSession) => Promise<void>
  /** The session is not in memory any more. */
  readonly gone?: (session: LiveSession) => void
  /** Somebody is about to do something with it, watches it or waits for it. */
  readonly isNeeded?: (session: LiveSession) => boolean
  /** In milliseconds, only going forward. */
  readonly clock?: () => number
}

interface Held {
  readonly session: LiveSession
  usedAt: number
}

/** A session that has ended is read once more, if at all, soon after. */
const ENDED_MS = 60_000
/** An agent that is away or rests comes back to a session in memory as long as this, and to one in the store after it. */
const IDLE_MS = 60 * 60_000
const LOOK_MS = 30_000

/**
 * The sessions in memory. There is never a second object of one session: whoever still has one that was let go keeps it
 * alive, and it is found again by the next who asks.
 */
export class LoadedSessions {
  readonly #options: LoadedSessionsOptions
  readonly #held = new Map<string, Held>()
  readonly #loading = new Map<string, Promise<LiveSession | undefined>>()
  readonly #letGo = new Map<string, WeakRef<LiveSession>>()
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#letGo.get(id)?.deref() === undefined) this.#letGo.delete(id)
  })
  readonly #timer: NodeJS.Timeout
  readonly #now: () => number

  constructor(options: LoadedSessionsOptions) {
    this.#options = options
    this.#now = options.clock ?? (() => performance.now())
    this.#timer = setInterval(() => void this.letGo().catch(() => undefined), LOOK_MS)
    this.#timer.unref()
  }

  /** Whether it is being brought back or not. */
  get(id: string): LiveSession | undefined {
    return this.#held.get(id)?.session
  }

  *all(): Iterable<LiveSession> {
    for (const { session } of this.#held.values()) yield session
  }

  add(session: LiveSession): void {
    this.#letGo.delete(session.id)
    this.#held.set(session.id, { session, usedAt: this.#now() })
  }

  /** From memory or from the store; two who ask at once get the same. `isAtRest`: the store has it as one that nobody needs. */
  async find(id: string, isAtRest = true): Promise<LiveSession | undefined> {
    const underWay = this.#loading.get(id)
    if (underWay !== undefined) return underWay
    const held = this.#held.get(id)
    if (held !== undefined) {
      held.usedAt = this.#now()
      return held.session
    }
    const loading = this.#load(id, isAtRest).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  async #load(id: string, isAtRest: boolean): Promise<LiveSession | undefined> {
    const { directory } = this.#options
    const somebodys = this.#letGo.get(id)?.deref()
    if (somebodys !== undefined) return this.#restore(somebodys, async () => undefined)
    const kept = await directory.getSession(id)
    if (kept === undefined) return undefined
    const session = this.#options.open(kept)
    if (isAtRest) session.cameFromRest()
    return this.#restore(session, () => session.load())
  }

  /** The one way in which a session comes back, at start and later: its record, asks, answers, grants and messages. */
  async #restore(session: LiveSession, load: () => Promise<void>): Promise<LiveSession> {
    this.add(session)
    try {
      await this.#options.restore?.(session)
      await load()
      return session
    } catch (error) {
      this.#drop(session)
      throw error
    }
  }

  /** Something happened in a session that was let go: whoever has it is not alone with it. */
  takeBack({ id }: LiveSession): void {
    if (this.#letGo.has(id)) void this.find(id).catch(() => undefined)
  }

  /** Lets go of those that nobody has needed for a while. */
  async letGo(): Promise<void> {
    for (const held of this.#held.values()) {
      if (!this.#isFree(held)) held.usedAt = this.#now()
      else if (this.#now() - held.usedAt >= (held.session.isEnded ? ENDED_MS : IDLE_MS)) await this.#rest(held)
    }
  }

  /** The hub goes down: what has ended it need not load again. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const held of this.#held.values()) {
      await held.session.settled()
      // Not waited for: the store writes what it can before it closes.
      if (held.session.isEnded && this.#isFree(held)) held.session.rest().catch(() => undefined)
    }
  }

  #isFree({ session }: Held): boolean {
    return !this.#loading.has(session.id) && session.isQuiet && this.#options.isNeeded?.(session) !== true
  }

  async #rest(held: Held): Promise<void> {
    const { session, usedAt } = held
    if (!(await session.rest())) return
    // Somebody asked for it meanwhile.
    if (held.usedAt !== usedAt || this.#held.get(session.id) !== held || !this.#isFree(held)) return
    this.#drop(session)
    this.#options.gone?.(session)
  }

  #drop(session: LiveSession): void {
    this.#held.delete(session.id)
    this.#letGo.set(session.id, new WeakRef(session))
    this.#collected.register(session, session.id)
  }
}
