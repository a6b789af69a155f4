import { type Envelope, textOf } from "@signalbox/protocol"
import type { NewSession } from "@signalbox/protocol/hub-api"
import { COME_BACK } from "@signalbox/transport"
import { type HubError, unknown, unlessMoved } from "../errors.ts"
import { type KeptSession, newestInChain, newSession, type Origin } from "../model/session-record.ts"
import type { GrantDesk, RuleUses } from "../policy-desk.ts"
import { movedError } from "../store/store-failure.ts"
import type { AgentWire } from "./agent-control.ts"
import { AgentRoutes } from "./agent-routes.ts"
import { LiveSession } from "./live-session.ts"
import type { Ownership } from "./ownership.ts"
import type { SessionHub } from "./session-hub.ts"

export interface SessionRegistryOptions extends Omit<SessionHub, "registry" | keyof SessionDesks> {
  /** Whether somebody was given a token to be this session's agent. */
  readonly tokens?: { hasForSession(sessionId: string): Promise<boolean> }
  /** Where hubs share the store: a session is in memory here exactly as long as it is this hub's. */
  readonly ownership?: Ownership | undefined
  /** As the sessions that it has tell it, where hubs share the store. */
  readonly hubId?: string | undefined
  /** In milliseconds, only going forward. */
  readonly clock?: () => number
}

/** These know sessions, and sessions know them: the one circle in the hub. */
export interface SessionDesks extends Pick<SessionHub, "asks" | "clients" | "launches"> {
  /** Grants of a session, and how often it used rules, are in memory as long as the session is. */
  readonly grants?: Pick<GrantDesk, "restore" | "letGo">
  readonly uses?: Pick<RuleUses, "restore" | "letGo">
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
/** As many as read from the store without holding up everybody else who does. */
const LOADED_AT_ONCE = 4

/**
 * Finds sessions, by our id and by the keys that others know them by, and has those in memory that somebody needs. There is
 * never a second object of one session: whoever still has one that was let go keeps it alive, and it is found again by the
 * next who asks.
 */
export class SessionRegistry {
  readonly isGuarded: AgentRoutes["isGuarded"]
  readonly #given: SessionRegistryOptions
  readonly #held = new Map<string, Held>()
  /** How often the lease was lost. */
  #lapses = 0
  readonly #loading = new Map<string, Promise<LiveSession | undefined>>()
  readonly #letGo = new Map<string, WeakRef<LiveSession>>()
  readonly #removing = new Set<string>()
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#letGo.get(id)?.deref() === undefined) this.#letGo.delete(id)
  })
  readonly #timer: NodeJS.Timeout
  readonly #clock: () => number
  /** What was claimed since the hub started, and found in the store: it has the rest. */
  readonly #byAgentId = new Map<string, LiveSession>()
  readonly #byRequestKey = new Map<string, LiveSession>()
  readonly #routes: AgentRoutes
  #hub: (SessionHub & SessionRegistryOptions & SessionDesks) | undefined

  constructor(options: SessionRegistryOptions) {
    this.#given = options
    this.#routes = new AgentRoutes({ registry: this, tokens: options.tokens })
    this.isGuarded = (session) => this.#routes.isGuarded(session)
    this.#clock = options.clock ?? (() => performance.now())
    this.#timer = setInterval(() => void this.letGo().catch(() => undefined), LOOK_MS).unref()
  }

  connect(desks: SessionDesks): void {
    this.#hub = { ...this.#given, ...desks, registry: this }
  }

  get #options(): SessionHub & SessionRegistryOptions & SessionDesks {
    if (this.#hub === undefined) throw new Error("sessions are opened when all is there that they stand on")
    return this.#hub
  }

  /** Another hub may speak to the agent now: one that wakes after a pause must not bring it an old answer. */
  refuseIfLapsed(session: LiveSession): void {
    if (!this.isCurrent) throw movedError(session.id)
  }

  /** Whether the other hubs take this one for alive. A hub alone always is. */
  get isCurrent(): boolean {
    return this.#options.ownership?.isCurrent !== false
  }

  /** At start: the sessions that somebody needs. What was on its way in one that was handed over goes to the newest. */
  async restore(): Promise<void> {
    const ids = (await this.#options.directory.unfinishedSessions()).values()
    const loadEach = async () => {
      for (const id of ids) await this.#find(id, false).catch(unlessMoved)
    }
    await Promise.all(Array.from({ length: LOADED_AT_ONCE }, loadEach))
    for (const session of this.allLoaded()) {
      if (session.record.next === undefined || session.messages.unconfirmed === 0) continue
      const newest = await this.newestOf(session.id).catch(unlessMoved)
      if (newest !== undefined && newest !== session) session.messages.moveTo(newest.messages)
    }
  }

  async get(id: string): Promise<LiveSession> {
    const session = await this.find(id)
    if (session === undefined) throw unknown("session", id)
    return session
  }

  find(id: string): Promise<LiveSession | undefined> {
    return this.#find(id, true)
  }

  /** If it is in memory: it is while it has an agent, asks, messages on their way, or somebody watches it. */
  loaded(id: string): LiveSession | undefined {
    return this.#held.get(id)?.session
  }

  get count(): number {
    return this.#held.size
  }

  /** Those that somebody needs now. */
  *allLoaded(): Iterable<LiveSession> {
    for (const { session } of this.#held.values()) yield session
  }

  /** From memory or from the store; two who ask at once get the same. `isAtRest`: the store has it as one that nobody needs. */
  async #find(id: string, isAtRest: boolean): Promise<LiveSession | undefined> {
    if (this.#removing.has(id)) return undefined
    const underWay = this.#loading.get(id)
    if (underWay !== undefined) return underWay
    const held = this.#held.get(id)
    if (held !== undefined) {
      held.usedAt = this.#clock()
      return held.session
    }
    const loading = this.#load(id, isAtRest).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  /** The one way in which a session comes back, at start and later: its record, asks, answers, grants and messages. */
  async #load(id: string, isAtRest: boolean): Promise<LiveSession | undefined> {
    const { directory, asks, grants, uses, clients, ownership } = this.#options
    const somebodys = this.#letGo.get(id)?.deref()
    let kept = somebodys?.kept ?? (await directory.getSession(id))
    if (kept !== undefined && ownership !== undefined) kept = await this.#claim(id, ownership)
    if (kept === undefined) return undefined
    const session = somebodys ?? new LiveSession(kept, this.#options)
    if (somebodys === undefined && isAtRest) session.cameFromRest()
    this.#add(session)
    try {
      await asks.restore(id)
      await grants?.restore(id)
      await uses?.restore(id)
      if (somebodys === undefined) await session.load()
      await clients.restore(session)
      // The hub was killed, or its disk was full, before they were closed.
      if (session.isEnded && session.record.next === undefined && asks.pendingCount(id) > 0)
        await asks.orphan({ sessionId: id, incarnation: session.kept.own.incarnation, except: null })
      if (ownership !== undefined) await this.#tellAnew(session)
      if (session.gone !== undefined) throw session.gone
      return session
    } catch (error) {
      if (ownership === undefined) this.#drop(session)
      else if (session.gone === undefined) this.depart(session, movedError(id))
      else this.#leaveDesks(session)
      throw error
    }
  }

  /** The record as it is when nobody else writes it any more. Without one the session is not this hub's. */
  async #claim(id: string, ownership: Ownership): Promise<KeptSession | undefined> {
    const lapses = this.#lapses
    await ownership.claim(id)
    let kept: KeptSession | undefined
    try {
      kept = await this.#options.directory.getSession(id)
      if (lapses !== this.#lapses) throw movedError(id)
    } finally {
      if (kept === undefined || lapses !== this.#lapses) ownership.drop(id)
    }
    return kept
  }

  /** Those who watch on other hubs heard of it from the hub that had it. */
  async #tellAnew(session: LiveSession): Promise<void> {
    const { asks, viewers } = this.#options
    viewers.changed(session.view())
    await asks.tellOpen(session.id, async (ask) => {
      viewers.asked(ask)
      return true
    })
  }

  #add(session: LiveSession): void {
    this.#letGo.delete(session.id)
    this.#held.set(session.id, { session, usedAt: this.#clock() })
  }

  /** Something happened in it: it may have been let go meanwhile, and whoever has it is not alone with it. */
  takeBack({ id }: LiveSession): void {
    if (this.#letGo.has(id)) void this.find(id).catch(() => undefined)
  }

  /** Lets go of those that nobody has needed for a while. */
  async letGo(): Promise<void> {
    for (const held of this.#held.values()) {
      if (!this.#isFree(held)) held.usedAt = this.#clock()
      else if (this.#clock() - held.usedAt >= (held.session.isEnded ? ENDED_MS : IDLE_MS)) await this.#rest(held)
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

  /** Nobody is about to do something with it, watches it or waits for it. */
  #isFree({ session }: Held): boolean {
    const { viewers, asks, clients } = this.#options
    const isQuiet = !this.#loading.has(session.id) && session.isQuiet && !asks.isBusyWith(session.id)
    return isQuiet && viewers.countOf(session.id) === 0 && !clients.has(session)
  }

  async #rest(held: Held): Promise<void> {
    const { session, usedAt } = held
    if (!(await session.rest())) return
    // Somebody asked for it meanwhile.
    if (held.usedAt !== usedAt || this.#held.get(session.id) !== held || !this.#isFree(held)) return
    const { ownership, asks } = this.#options
    // Answers that were on the wire come back with it.
    asks.letGo(session.id)
    if (ownership === undefined) {
      this.#drop(session)
      this.#forget(session)
      return
    }
    // A caller that still has it finds it again by its id, here or on the hub that has it then.
    this.#takeOut(session, movedError(session.id))
    await ownership.release(session.id)
  }

  /** A fellow hub needs it, as its agent is there: what was said so far is in the store when this resolves, and its agent is told to come back. Those who watch it here cannot claim it before the fellow does. */
  async handOver(session: LiveSession, fellow: string | undefined): Promise<void> {
    await session.wire?.closeWith(COME_BACK, "the session goes to another hub").catch(() => undefined)
    await session.taken()
    await session.settled()
    await this.#options.ownership?.release(session.id, fellow)
    this.depart(session, movedError(session.id))
  }

  #leaveDesks(session: LiveSession): void {
    this.#options.asks.letGo(session.id)
    this.#hub?.clients.left(session)
  }

  /** The hub has lost its lease: other hubs may take over what it had, and what it was about to load. */
  giveUp(): void {
    this.#lapses++
    for (const session of this.allLoaded()) this.depart(session, movedError(session.id))
  }

  /** It is another hub's from here on: what is under way in it fails with this error, and its agent comes back where it belongs. */
  depart(session: LiveSession, error: HubError): void {
    if (this.#held.get(session.id)?.session !== session) return
    const { wire } = session
    this.#takeOut(session, error)
    this.#leaveDesks(session)
    this.#options.viewers.left(session.id)
    this.#options.ownership?.drop(session.id)
    void wire?.closeWith(COME_BACK, "the session is another hub's").catch(() => undefined)
  }

  /** Its agent is here: the session, and those in which its conversation went on, are asked of the hubs that have them. */
  async take(id: string, spawn?: string): Promise<void> {
    const { ownership } = this.#options
    if (ownership === undefined) return
    await newestInChain(async (each) => {
      if ((await this.keptOf(each)) === undefined) await ownership.takeUnsaved(each, spawn)
      else await ownership.take(each, spawn)
      return this.keptOf(each)
    }, id)
  }

  /** Nobody finds it from now on, and whoever has it can do nothing with it. */
  #takeOut(session: LiveSession, why?: HubError): void {
    session.vanish(why)
    this.#held.delete(session.id)
    this.#forget(session)
  }

  #forget(session: LiveSession): void {
    for (const keys of [this.#byAgentId, this.#byRequestKey])
      for (const [key, named] of keys) if (named === session) keys.delete(key)
    this.#options.grants?.letGo(session.id)
    this.#options.uses?.letGo(session.id)
  }

  /** Takes it out for good while `purge` deletes it from the store: from now on nobody finds it, and whoever has it can do nothing with it. */
  async remove(session: LiveSession, purge: () => Promise<void>): Promise<void> {
    this.#removing.add(session.id)
    this.#takeOut(session)
    // If it fails, the next who asks gets another object from the store.
    await purge().finally(() => this.#removing.delete(session.id))
    this.#options.ownership?.drop(session.id)
  }

  #drop(session: LiveSession): void {
    this.#held.delete(session.id)
    this.#letGo.set(session.id, new WeakRef(session))
    this.#collected.register(session, session.id)
  }

  /** What is kept of a session, without bringing it into memory. */
  async keptOf(id: string): Promise<KeptSession | undefined> {
    if (this.#removing.has(id)) return undefined
    return this.loaded(id)?.kept ?? this.#options.directory.getSession(id)
  }

  /** The session in which this one's conversation goes on: the newest of its chain. */
  async newestOf(id: string): Promise<LiveSession | undefined> {
    const newest = await newestInChain((each) => this.keptOf(each), id)
    return newest === undefined ? undefined : this.find(newest)
  }

  /** The sessions whose conversation goes on in this one, and itself. */
  async chainTo({ id }: LiveSession): Promise<readonly string[]> {
    const chain = new Set([id])
    for (const each of chain) {
      for (const before of await this.#options.directory.sessionsBefore(each)) chain.add(before)
      for (const session of this.allLoaded()) if (session.record.next === each) chain.add(session.id)
    }
    return [...chain]
  }

  /** The connection of a process, wherever its conversation goes on by now. */
  wireOf(incarnation: string): AgentWire | undefined {
    for (const { greetedWire } of this.allLoaded()) if (greetedWire?.incarnation === incarnation) return greetedWire
    return undefined
  }

  /** The session of these questions, as long as an agent that dials in may come back to it. */
  async homeOf(requestIds: readonly string[]): Promise<LiveSession | undefined> {
    const id = this.#options.asks.sessionOf(requestIds)
    const session = id === undefined ? undefined : await this.newestOf(id)
    if (session === undefined || (await this.isGuarded(session))) return undefined
    return session.wire !== undefined || session.isEnded ? undefined : session
  }

  byRequestKey(key: string): Promise<LiveSession | undefined> {
    return this.#by("requestKey", key, this.#byRequestKey)
  }

  /** It was asked for by another key now, which means the same session from now on. */
  rekey(session: LiveSession, requestKey: string): void {
    session.changeOwn({ requestKey })
    this.#byRequestKey.set(requestKey, session)
  }

  /** The session of this id of the CLI's own. */
  byAgentId(agentSessionId: string): Promise<LiveSession | undefined> {
    return this.#by("agentSessionId", agentSessionId, this.#byAgentId)
  }

  /** As `byAgentId`, if somebody needs it now. */
  loadedByAgentId(agentSessionId: string): LiveSession | undefined {
    return this.#byAgentId.get(agentSessionId)
  }

  async #by(by: "requestKey" | "agentSessionId", key: string, known: Map<string, LiveSession>) {
    const here = known.get(key)
    if (here !== undefined) return here
    const id = await this.#options.directory.findSession({ by, key })
    const session = id === undefined ? undefined : await this.find(id)
    // Claimed by another meanwhile.
    if (session !== undefined && !known.has(key)) known.set(key, session)
    return known.get(key)
  }

  /** A session whose agent somebody starts by hand; of two with one key the first. */
  create(request: NewSession, origin?: Origin): LiveSession {
    const known = request.requestKey === undefined ? undefined : this.#byRequestKey.get(request.requestKey)
    if (known !== undefined) return known
    const session = this.draft(request, origin)
    session.expectByHand()
    this.adopt(session)
    return session
  }

  /** A session that nobody is told of yet: it may come to nothing. */
  draft(request: NewSession, origin?: Origin): LiveSession {
    const kept = newSession(request, this.#options.now?.() ?? new Date(), origin)
    this.#options.ownership?.begin(kept.record.id)
    const session = new LiveSession(kept, this.#options, true)
    this.#add(session)
    return session
  }

  /** Everybody is told of it from here on. */
  adopt(session: LiveSession): void {
    const { requestKey } = session.kept.own
    if (requestKey !== null) this.#byRequestKey.set(requestKey, session)
  }

  /** It came to nothing. */
  discard({ id }: LiveSession): void {
    this.#held.delete(id)
    this.#options.ownership?.drop(id)
  }

  /** The session that a line of this connection belongs to: almost always the one that had the line before. */
  async route(current: LiveSession, message: Envelope, isBound = false): Promise<LiveSession> {
    const named = textOf(message, "session_id") ?? ""
    if (named === "" || named === current.record.agentSessionId) return current
    return this.#routes.route(current, message, { agentSessionId: named, isBound })
  }

  /** The agent told which of the CLI's own ids the conversation has. */
  claimAgentId(session: LiveSession, agentSessionId: string): void {
    session.change({ agentSessionId })
    this.#byAgentId.set(agentSessionId, session)
  }
}
