import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises"
import { isObject } from "@signalbox/protocol"
import { type HubSettings, type Prune, type Pruned, type StoreSize, spanMs } from "@signalbox/protocol/hub-api"
import type { AskDesk } from "./asks/ask-desk.ts"
import type { Tokens } from "./auth/tokens.ts"
import { HubError } from "./errors.ts"
import { ACTOR } from "./model/access.ts"
import type { SessionRecord } from "./model/session-record.ts"
import type { LiveSession } from "./session/live-session.ts"
import type { SessionRegistry } from "./session/session-registry.ts"
import type { Directory, ListPlace } from "./store/directory.ts"
import type { EventLog } from "./store/event-log.ts"
import type { Store } from "./store/open-store.ts"
import type { FanOut } from "./viewers/fan-out.ts"

export interface RetentionOptions {
  readonly registry: Pick<SessionRegistry, "get" | "find" | "newestOf" | "remove">
  readonly directory: Pick<
    Directory,
    "purgeSession" | "listSessions" | "sessionsBefore" | "getDocument" | "changeDocument"
  >
  readonly log: Pick<EventLog, "purge">
  readonly asks: Pick<AskDesk, "isBusyWith">
  readonly tokens: Pick<Tokens, "revokeOfSessions">
  readonly viewers: Pick<FanOut, "purged">
  readonly store: Pick<Store, "size"> & { readonly purger: { wake(): void } }
  readonly settings: () => HubSettings
  /** Whether this hub looks after the store's size and its old sessions: one of those that share it does. Left out: it does. */
  readonly isFirst?: () => boolean
  readonly trouble: (what: string, error: unknown) => void
  readonly now?: () => Date
}

/** A person or the hub, as the audit names them. */
interface Purging {
  readonly by: string
  readonly via: "person" | "hub"
}

/** The sessions that a prune takes, with the moment it was asked for in it. */
interface Choice extends Pick<Prune, "archived" | "keepLast"> {
  readonly before: string
}

/** A prune that a person asked for and that is not finished: in the store, so that a restart does not forget it. */
type OpenPrune = Choice & Purging

interface Waiting extends Purging {
  /** Somebody may pin a session, or use it again, before its turn comes. */
  readonly isStillWanted: (record: SessionRecord) => boolean
}

const HOUR_MS = 3_600_000
/** A hub that starts has other things to do first. */
const FIRST_LOOK_MS = 60_000
const PAGE = 200
/** Sessions that one prune takes, and those of them that are named in the reply. */
const MAX_PRUNED = 10_000
const MAX_NAMED = 100
const MAX_REST_MS = 50
const PRUNES = "open-prunes"
const MAX_OPEN_PRUNES = 20
/** So many sessions in a row could not be purged: the store is in trouble, not the sessions. */
const MAX_FAILURES = 10
const SIZES = "store-sizes"
/** A clock that is further ahead of the last look may be wrong, or the hub was off: nothing is deleted by it until the next look. */
const MAX_AHEAD_MS = 3 * HOUR_MS
/** One for each hour of the last day, and one more. */
const MAX_SIZES = 26
/** Looks are an hour apart, so a size of about a day ago is at least and at most so old. */
const ABOUT_A_DAY_MS = { from: 23.5 * HOUR_MS, to: 26 * HOUR_MS } as const

/** The place in the list right before the newest session that is not pinned. */
const NEWEST_UNPINNED: ListPlace = { pinned: false, createdAt: "9999", id: "" }

interface KnownSize {
  readonly at: string
  readonly bytes: number
}

/** Deletes sessions for good: one that somebody names, old ones that somebody wants gone, and those that the settings say. */
export class Retention {
  readonly #options: RetentionOptions
  /** Sessions that are still to be purged. After a restart they are chosen again, by the settings or an open prune. */
  readonly #waiting = new Map<string, Waiting>()
  /** Prunes whose sessions are all among those, by their keys. They end with them. */
  readonly #queued = new Set<string>()
  #working: Promise<void> | undefined
  #hasMore = false
  #looking: Promise<void> | undefined
  /** How many were purged since the hub started. */
  #purged = 0
  #timer: NodeJS.Timeout
  #isClosed = false

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#timer = this.#lookIn(FIRST_LOOK_MS)
  }

  /** The session must have ended. When it resolves nobody finds it any more; what it leaves behind is deleted in the background. */
  async purge(id: string, { by, via }: Purging, isStillWanted = (_record: SessionRecord) => true): Promise<void> {
    const { registry, directory, log, tokens, viewers, store } = this.#options
    const session = await registry.get(id)
    const newest = await registry.newestOf(id)
    if (newest !== undefined && newest !== session && !newest.isEnded) throw goesOn(session, newest)
    await session.taken()
    // Nothing is awaited from here until it is taken out: it could be woken meanwhile.
    this.#requireOver(session)
    if (!isStillWanted(session.record)) throw live(session, "it was changed since the prune was asked for")
    const { runner, lastSeq: events, createdAt } = session.record
    const at = this.#now().toISOString()
    const details = { runner, events, createdAt }
    const audit = { at, what: "session/purged", by, via, sessionId: id, askId: null, details }
    await registry.remove(session, async () => {
      // In one tick, so in one commit.
      const [wasThere] = await Promise.all([directory.purgeSession(id, audit), log.purge(id)])
      if (!wasThere) throw new HubError("session/unknown", `There is no session ${id}.`)
    })
    this.#purged++
    viewers.purged(id)
    store.purger.wake()
    // Only now: a purge that was refused must leave the session as it was.
    await this.#linkOver(session)
    await tokens.revokeOfSessions([id], by)
  }

  /** Replies at once with what it will purge. Sessions that run, or are woken before their turn comes, are left alone. */
  async prune(how: Prune, purging: Purging): Promise<Pruned> {
    const { archived, keepLast } = how
    const choice = { before: this.#momentOf(how), ...(archived && { archived }), ...(keepLast && { keepLast }) }
    const open = { ...choice, ...purging }
    const { chosen, more } = await this.#choose(choice)
    if (how.dryRun !== true) {
      // Refused while the store is in trouble, so that nobody takes for deleted what is not.
      if (purging.via === "person" && chosen.length > 0) await this.#changeOpen((prunes) => [...prunes, open])
      this.#queue(chosen, open)
    }
    const events = chosen.reduce((sum, { lastSeq }) => sum + lastSeq, 0)
    const { bytes, freeBytes, events: all } = await this.#options.store.size()
    return {
      count: chosen.length,
      sessions: chosen.slice(0, MAX_NAMED).map(({ id, title, updatedAt }) => ({ id, title, updatedAt })),
      events,
      bytes: all === 0 ? 0 : Math.round((bytes - freeBytes) * Math.min(1, events / all)),
      more,
    }
  }

  async size(): Promise<StoreSize> {
    const { store, directory } = this.#options
    const [size, sizes] = await Promise.all([store.size(), directory.getDocument(SIZES)])
    const now = this.#now().getTime()
    const dayAgo = sizesIn(sizes).findLast(({ at }) => {
      const age = now - Date.parse(at)
      return age >= ABOUT_A_DAY_MS.from && age <= ABOUT_A_DAY_MS.to
    })
    return { ...size, purging: this.#waiting.size, ...(dayAgo === undefined ? {} : { dayAgo }) }
  }

  /** Ends after the session that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiting.clear()
    await this.#working
    await this.#looking
  }

  #lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#looking = this.#look()
    }, ms).unref()
  }

  /** About once an hour: how large the store is, what a restart interrupted, and what the settings want gone. */
  async #look(): Promise<void> {
    if (this.#options.isFirst?.() === false) {
      if (!this.#isClosed) this.#timer = this.#lookIn(FIRST_LOOK_MS)
      return
    }
    try {
      const isClockSteady = await this.#noteSize()
      // Those too that another hub was asked for, where hubs share the store.
      for (const open of await this.#openPrunes()) this.#queue((await this.#choose(open)).chosen, open)
      if (this.#waiting.size > 0) this.#work()
      if (isClockSteady) await this.#pruneBySettings()
    } catch (error) {
      if (!this.#isClosed) this.#options.trouble("old sessions could not be purged", error)
    }
    if (!this.#isClosed) this.#timer = this.#lookIn(HOUR_MS)
  }

  /** Until there are no more, or none of them could be purged. */
  async #pruneBySettings(): Promise<void> {
    for (let isGoingOn = true; isGoingOn && !this.#isClosed; ) {
      const { retention } = this.#options.settings()
      if (retention === null) return
      const before = this.#purged
      const { more } = await this.prune(retention, { by: ACTOR.hub, via: "hub" })
      await this.#working
      isGoingOn = more && this.#purged > before
    }
  }

  /** Whether the clock went on as it should since the last look. */
  async #noteSize(): Promise<boolean> {
    const { store, directory } = this.#options
    const { bytes } = await store.size()
    const now = this.#now()
    const sizes = sizesIn(await directory.getDocument(SIZES))
    const last = sizes.at(-1)
    const sinceMs = last === undefined ? HOUR_MS : now.getTime() - Date.parse(last.at)
    // A hub that is started again and again notes no more than one that runs.
    if (Math.abs(sinceMs) < HOUR_MS / 2) return true
    const noted = { at: now.toISOString(), bytes }
    await directory.changeDocument(SIZES, (kept) => [...sizesIn(kept), noted].slice(-MAX_SIZES))
    return sinceMs > 0 && sinceMs <= MAX_AHEAD_MS
  }

  #requireOver(session: LiveSession): void {
    if (!session.isEnded)
      throw live(session, "it has not ended: stop it first (DELETE without purge, or signalbox stop)")
    if (!session.isQuiet || this.#options.asks.isBusyWith(session.id))
      throw live(
        session,
        "its last process is not known to be over, or the next one is starting: try again when its machine is connected",
      )
  }

  /** Sessions that went on in this one now go on in the one that followed it, if there is one. */
  async #linkOver({ id, record: { next } }: LiveSession): Promise<void> {
    for (const each of await this.#options.directory.sessionsBefore(id)) {
      const before = await this.#options.registry.find(each)
      if (before?.record.next !== id) continue
      if (next === undefined) before.forget("next")
      else before.change({ next })
    }
  }

  /** Newest first, among those that were made before the time: nothing can have happened in them later than that. */
  async #choose(choice: Choice): Promise<{ chosen: SessionRecord[]; more: boolean }> {
    const { directory } = this.#options
    const { before, keepLast = 0 } = choice
    const isKept = await this.#newestEnded(keepLast)
    const chosen: SessionRecord[] = []
    let place: ListPlace = { pinned: false, createdAt: before, id: "" }
    for (;;) {
      const page = await directory.listSessions({ state: "ended", limit: PAGE, before: place })
      for (const record of page) {
        if (isChosen(record, choice) && !isKept.has(record.id)) chosen.push(record)
        if (chosen.length > MAX_PRUNED) return { chosen: chosen.slice(0, MAX_PRUNED), more: true }
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return { chosen, more: false }
      place = last
      await nextTurn()
    }
  }

  /** Pinned ones stay anyway, and take no place of those that are to be kept. */
  async #newestEnded(count: number): Promise<ReadonlySet<string>> {
    const ids = new Set<string>()
    let place = NEWEST_UNPINNED
    while (ids.size < count) {
      const limit = Math.min(PAGE, count - ids.size)
      const page = await this.#options.directory.listSessions({ state: "ended", limit, before: place })
      for (const { id } of page) ids.add(id)
      place = page.at(-1) ?? place
      if (page.length < limit) break
      await nextTurn()
    }
    return ids
  }

  #queue(chosen: readonly SessionRecord[], prune: OpenPrune): void {
    const { by, via, ...choice } = prune
    const { retention } = this.#options.settings()
    const isStillWanted = (record: SessionRecord) =>
      isChosen(record, choice) && (via === "person" || this.#options.settings().retention === retention)
    for (const { id } of chosen) if (!this.#waiting.has(id)) this.#waiting.set(id, { by, via, isStillWanted })
    if (via === "person") this.#queued.add(keyOf(prune))
    this.#work()
  }

  #work(): void {
    this.#hasMore = true
    if (this.#working !== undefined || this.#isClosed) return
    this.#working = this.#purgeAll().finally(() => {
      this.#working = undefined
      // Asked for while the last ones were being ended.
      if (this.#hasMore) this.#work()
    })
  }

  async #purgeAll(): Promise<void> {
    this.#hasMore = false
    let failures = 0
    for (const [id, { isStillWanted, ...purging }] of this.#waiting) {
      const startedAt = performance.now()
      try {
        await this.purge(id, purging, isStillWanted)
        failures = 0
        this.#waiting.delete(id)
      } catch (error) {
        if (isPassedOver(error)) this.#waiting.delete(id)
        else {
          // It waits for the next look, and so do all others if there are many such.
          this.#options.trouble(`session ${id} could not be purged`, error)
          if (++failures === MAX_FAILURES) return
        }
      }
      // Half of the time is everybody else's.
      await pause(Math.min(MAX_REST_MS, performance.now() - startedAt))
    }
    if (this.#waiting.size > 0 || this.#queued.size === 0 || this.#isClosed) return
    const ended = new Set(this.#queued)
    try {
      await this.#changeOpen((prunes) => prunes.filter((prune) => !ended.has(keyOf(prune))))
      for (const key of ended) this.#queued.delete(key)
    } catch (error) {
      this.#options.trouble("a prune could not be ended", error)
    }
  }

  /** Each change is made to what is in the store then: two prunes at once, even of two hubs, are both kept. */
  async #changeOpen(change: (prunes: readonly OpenPrune[]) => readonly OpenPrune[]): Promise<void> {
    const changed = (kept: unknown) => {
      const prunes = change(openPrunesIn(kept))
      if (prunes.length > MAX_OPEN_PRUNES)
        throw new HubError("hub/busy", "Too many prunes at once. Try again when they are done.")
      return prunes
    }
    await this.#options.directory.changeDocument(PRUNES, changed, { synced: true })
  }

  async #openPrunes(): Promise<readonly OpenPrune[]> {
    return openPrunesIn(await this.#options.directory.getDocument(PRUNES))
  }

  #momentOf({ olderThan }: Prune): string {
    const span = spanMs(olderThan)
    if (span === undefined)
      throw new HubError("request/invalid", `olderThan: ${olderThan} isn't a length of time; use 90d, 12h or 15m`)
    return new Date(this.#now().getTime() - span).toISOString()
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date()
  }
}

function keyOf({ before, by, archived, keepLast }: OpenPrune): string {
  return JSON.stringify([before, by, archived ?? false, keepLast ?? 0])
}

function isChosen(record: SessionRecord, { before, archived }: Choice): boolean {
  return record.updatedAt < before && !record.pinned && (archived !== true || record.archived)
}

const PASSED_OVER: ReadonlySet<string> = new Set(["session/live", "session/unknown", "hub/moved"])

/** It runs, was woken or changed before its turn came, or is gone already. */
function isPassedOver(error: unknown): boolean {
  return error instanceof HubError && PASSED_OVER.has(error.code)
}

function openPrunesIn(kept: unknown): readonly OpenPrune[] {
  return Array.isArray(kept) ? kept.filter(isOpenPrune) : []
}

function isOpenPrune(value: unknown): value is OpenPrune {
  return isObject(value) && typeof value["before"] === "string" && typeof value["by"] === "string"
}

function sizesIn(kept: unknown): readonly KnownSize[] {
  return Array.isArray(kept) ? kept.filter(isKnownSize) : []
}

function isKnownSize(value: unknown): value is KnownSize {
  return isObject(value) && typeof value["at"] === "string" && typeof value["bytes"] === "number"
}

function live({ id }: LiveSession, why: string): HubError {
  return new HubError("session/live", `session ${id} cannot be purged: ${why}`)
}

function goesOn(session: LiveSession, { id }: LiveSession): HubError {
  return live(session, `its conversation goes on in session ${id}, which has not ended: stop that one first`)
}
