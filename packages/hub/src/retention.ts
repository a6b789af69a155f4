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
import { type Directory, isListedBefore, type ListPlace, type SessionFilter } from "./store/directory.ts"
import type { EventLog } from "./store/event-log.ts"
import type { Store } from "./store/open-store.ts"
import type { FanOut } from "./viewers/fan-out.ts"

export interface RetentionOptions {
  readonly registry: Pick<SessionRegistry, "get" | "find" | "newestOf" | "remove">
  readonly directory: Pick<
    Directory,
    "purgeSession" | "listSessions" | "countSessions" | "sessionsBefore" | "getDocument" | "changeDocument"
  >
  readonly log: Pick<EventLog, "purge">
  readonly asks: Pick<AskDesk, "isBusyWith">
  readonly tokens: Pick<Tokens, "ofSession" | "revokeAll">
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

type Filter = Omit<SessionFilter, "limit">

interface Job extends OpenPrune {
  /** The hub's own ends when the settings change. A person's stays what it was. */
  readonly isWanted: () => boolean
  /** The last session whose turn came. */
  place?: ListPlace
  hasFailed: boolean
  /** All turns came. It stays for the next look if a session could not be purged. */
  isThrough: boolean
}

const HOUR_MS = 3_600_000
/** A hub that starts has other things to do first. */
const FIRST_LOOK_MS = 60_000
const PAGE = 200
/** Sessions that are named in the reply. */
const MAX_NAMED = 100
/** It rests as long as it worked, so that half of the time is everybody else's. */
const WORK_MS = 5
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
  /** Prunes under way, by their keys. After a restart they begin again, by the settings or an open prune. */
  readonly #jobs = new Map<string, Job>()
  #working: Promise<void> | undefined
  #hasMore = false
  #looking: Promise<void> | undefined
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
    // The store deletes them with the session.
    const given = await tokens.ofSession(id)
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
    viewers.purged(id)
    store.purger.wake()
    // Only now: a purge that was refused must leave the session as it was.
    await this.#linkOver(session)
    await tokens.revokeAll(given, by)
  }

  /** Replies at once with what it will purge. Sessions that run, or are woken before their turn comes, are left alone. */
  async prune(how: Prune, purging: Purging): Promise<Pruned> {
    const { directory, store } = this.#options
    const open = { ...this.#choiceOf(how), ...purging }
    const filter = await this.#filterOf(open)
    const sessions = await directory.listSessions({ ...filter, limit: MAX_NAMED })
    const { count, events } = await directory.countSessions([filter])
    if (how.dryRun !== true && count > 0) {
      // Refused while the store is in trouble, so that nobody takes for deleted what is not.
      await this.#changeOpen((prunes) => [...prunes, open])
      this.#begin(open)
    }
    const { bytes, freeBytes, events: all } = await store.size()
    return {
      count,
      sessions: sessions.map(({ id, title, updatedAt }) => ({ id, title, updatedAt })),
      events,
      bytes: all === 0 ? 0 : Math.round((bytes - freeBytes) * Math.min(1, events / all)),
      more: false,
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
    return { ...size, purging: await this.#left(), ...(dayAgo === undefined ? {} : { dayAgo }) }
  }

  /** Counted once, however many prunes want it. */
  async #left(): Promise<number> {
    const jobs = [...this.#jobs.values()].filter((job) => job.isWanted())
    // One that could not be purged stands before the place that was reached.
    const rest = (job: Job) => this.#filterOf(job, job.hasFailed ? undefined : job.place)
    return jobs.length === 0
      ? 0
      : (await this.#options.directory.countSessions(await Promise.all(jobs.map(rest)))).count
  }

  /** Ends after the session that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
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
      for (const open of openPrunesIn(await this.#options.directory.getDocument(PRUNES))) this.#begin(open)
      const { retention } = this.#options.settings()
      if (isClockSteady && retention !== null) this.#begin({ ...this.#choiceOf(retention), by: ACTOR.hub, via: "hub" })
    } catch (error) {
      if (!this.#isClosed) this.#options.trouble("old sessions could not be purged", error)
    }
    if (!this.#isClosed) this.#timer = this.#lookIn(HOUR_MS)
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
  async #filterOf({ before, archived, keepLast = 0 }: Choice, after?: ListPlace): Promise<Filter> {
    const places = [await this.#lastKept(keepLast), ...(after === undefined ? [] : [after])]
    const later = (one: ListPlace, other: ListPlace) => (isListedBefore(one, other) ? other : one)
    const place = places.reduce(later, { pinned: false, createdAt: before, id: "" })
    return { state: "ended", before: place, quietSince: before, ...(archived && { archived }) }
  }

  /** The last of the newest. Pinned ones stay anyway, and take no place of those that are to be kept. */
  async #lastKept(count: number): Promise<ListPlace> {
    let place = NEWEST_UNPINNED
    for (let left = count; left > 0; left -= PAGE) {
      const limit = Math.min(PAGE, left)
      const page = await this.#options.directory.listSessions({ state: "ended", limit, before: place })
      place = page.at(-1) ?? place
      if (page.length < limit) break
      await nextTurn()
    }
    return place
  }

  /** One that is begun again goes through all of it: some could not be purged the first time. */
  #begin(prune: OpenPrune): void {
    const { retention } = this.#options.settings()
    const isWanted = () => prune.via === "person" || this.#options.settings().retention === retention
    this.#jobs.set(keyOf(prune), { ...prune, isWanted, hasFailed: false, isThrough: false })
    this.#work()
  }

  #work(): void {
    this.#hasMore = true
    if (this.#working !== undefined || this.#isClosed) return
    this.#working = this.#purgeAll()
      .catch((error: unknown) => this.#options.trouble("old sessions could not be purged", error))
      .finally(() => {
        this.#working = undefined
        // Asked for while the last ones were being ended.
        if (this.#hasMore) this.#work()
      })
  }

  /** A page of sessions at a time, people's prunes first. */
  async #purgeAll(): Promise<void> {
    this.#hasMore = false
    let failures = 0
    let startedAt = performance.now()
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      const page = await this.#options.directory.listSessions({
        ...(await this.#filterOf(job, job.place)),
        limit: PAGE,
      })
      for (const record of page) {
        if (this.#isClosed) return
        if (!job.isWanted()) break
        const isPurged = await this.#purgeOne(record.id, job)
        failures = isPurged ? 0 : failures + 1
        // It waits for the next look, and so do all others if there are many such.
        job.hasFailed ||= !isPurged
        job.place = record
        if (failures === MAX_FAILURES) return
        const workedMs = performance.now() - startedAt
        if (workedMs < WORK_MS) continue
        await pause(Math.min(MAX_REST_MS, workedMs))
        startedAt = performance.now()
      }
      if (page.length < PAGE || !job.isWanted()) await this.#end(job)
    }
  }

  #nextJob(): Job | undefined {
    const jobs = this.#isClosed ? [] : [...this.#jobs.values()].filter(({ isThrough }) => !isThrough)
    return jobs.find(({ via }) => via === "person") ?? jobs[0]
  }

  /** False: it could not be purged now. One that is passed over is left alone. */
  async #purgeOne(id: string, job: Job): Promise<boolean> {
    try {
      await this.purge(id, job, (record) => job.isWanted() && isChosen(record, job))
    } catch (error) {
      if (isPassedOver(error)) return true
      this.#options.trouble(`session ${id} could not be purged`, error)
      return false
    }
    return true
  }

  async #end(job: Job): Promise<void> {
    const key = keyOf(job)
    job.isThrough = true
    if (job.hasFailed || this.#jobs.get(key) !== job) return
    if (job.via === "person") await this.#changeOpen((prunes) => prunes.filter((prune) => keyOf(prune) !== key))
    this.#jobs.delete(key)
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

  #choiceOf({ olderThan, archived, keepLast }: Prune): Choice {
    const span = spanMs(olderThan)
    if (span === undefined)
      throw new HubError("request/invalid", `olderThan: ${olderThan} isn't a length of time; use 90d, 12h or 15m`)
    const before = new Date(this.#now().getTime() - span).toISOString()
    return { before, ...(archived && { archived }), ...(keepLast && { keepLast }) }
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date()
  }
}

/** The hub's own has one key: the next look begins it anew. */
function keyOf({ before, by, via, archived, keepLast }: OpenPrune): string {
  return via === "hub" ? via : JSON.stringify([before, by, archived ?? false, keepLast ?? 0])
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
