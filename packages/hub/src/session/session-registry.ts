import { randomUUID } from "node:crypto"
import { type Envelope, textOf } from "@signalbox/protocol"
import type { NewSession } from "@signalbox/protocol/hub-api"
import { launchOptionsIn, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { NO_TOKENS } from "@signalbox/protocol/usage"
import { HubError } from "../errors.ts"
import type { KeptSession } from "../model/session-record.ts"
import type { Directory } from "../store/directory.ts"
import type { AgentWire } from "./agent-control.ts"
import type { LiveSession } from "./live-session.ts"
import { LoadedSessions, type LoadedSessionsOptions } from "./loaded-sessions.ts"

export interface SessionRegistryOptions extends LoadedSessionsOptions {
  readonly directory: Pick<Directory, "getSession" | "findSession" | "sessionsBefore" | "unfinishedSessions">
  /** Whether somebody was given a token to be this session's agent. */
  readonly hasToken?: (sessionId: string) => Promise<boolean>
  readonly now?: () => Date
}

/** The CLI's own ids are uuids: what is longer names no session. */
const MAX_AGENT_ID_CHARS = 256

/** Finds sessions, by our id and by the keys that others know them by, and brings those that are asked for into memory. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions
  readonly #loaded: LoadedSessions
  /** What was claimed since the hub started, and found in the store: it has the rest. */
  readonly #byAgentId = new Map<string, LiveSession>()
  readonly #byRequestKey = new Map<string, LiveSession>()

  constructor(options: SessionRegistryOptions) {
    this.#options = options
    this.#loaded = new LoadedSessions({
      ...options,
      gone: (session) => {
        for (const keys of [this.#byAgentId, this.#byRequestKey]) {
          for (const [key, named] of keys) if (named === session) keys.delete(key)
        }
        options.gone?.(session)
      },
    })
  }

  /** At start: the sessions that somebody needs. What was on its way in one that was handed over goes to the newest. */
  async restore(): Promise<void> {
    for (const id of await this.#options.directory.unfinishedSessions()) await this.#loaded.find(id, false)
    for (const session of this.allLoaded()) {
      if (session.record.next === undefined || session.messages.unconfirmed === 0) continue
      const newest = await this.newestOf(session.id)
      if (newest !== undefined && newest !== session) session.messages.moveTo(newest.messages)
    }
  }

  async get(id: string): Promise<LiveSession> {
    const session = await this.find(id)
    if (session === undefined) throw new HubError("session/unknown", `there is no session ${id}`)
    return session
  }

  find(id: string): Promise<LiveSession | undefined> {
    return this.#loaded.find(id)
  }

  /** If it is in memory: it is while it has an agent, asks, messages on their way, or somebody watches it. */
  loaded(id: string): LiveSession | undefined {
    return this.#loaded.get(id)
  }

  /** Those that somebody needs now. */
  allLoaded(): Iterable<LiveSession> {
    return this.#loaded.all()
  }

  /** Something happened in it: it may have been let go meanwhile. */
  takeBack(session: LiveSession): void {
    this.#loaded.takeBack(session)
  }

  /** Lets go of the sessions that nobody needs. */
  letGo(): Promise<void> {
    return this.#loaded.letGo()
  }

  close(): Promise<void> {
    return this.#loaded.close()
  }

  /** What is kept of a session, without bringing it into memory. */
  async keptOf(id: string): Promise<KeptSession | undefined> {
    return this.loaded(id)?.kept ?? this.#options.directory.getSession(id)
  }

  /** The session in which this one's conversation goes on: the newest of its chain. */
  async newestOf(id: string): Promise<LiveSession | undefined> {
    const chain = new Set<string>()
    // In case a chain should ever bite its own tail.
    for (let next: string | undefined = id; next !== undefined && !chain.has(next); ) {
      const kept = await this.keptOf(next)
      if (kept === undefined) break
      chain.add(next)
      next = kept.record.next
    }
    const newest = [...chain].at(-1)
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
    for (const session of this.allLoaded()) {
      if (session.greetedWire?.incarnation === incarnation) return session.greetedWire
    }
    return undefined
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

  /** A session that nobody is told of before this; of two with one key the first. */
  create(request: NewSession, links: { parent?: string } = {}): LiveSession {
    const known = request.requestKey === undefined ? undefined : this.#byRequestKey.get(request.requestKey)
    return known ?? this.adopt(this.draft(request, links))
  }

  /** A session that nobody is told of yet: it may come to nothing. */
  draft(request: NewSession, links: { parent?: string } = {}): LiveSession {
    const options = launchOptionsIn(request)
    const at = (this.#options.now?.() ?? new Date()).toISOString()
    return this.#options.open({
      record: {
        id: randomUUID(),
        title: request.title ?? null,
        state: "starting",
        agentSessionId: null,
        cwd: request.cwd ?? null,
        model: request.model ?? null,
        // The agent tells later which mode the machine's settings name.
        permissionMode: request.permissionMode === MACHINE_MODE ? null : (request.permissionMode ?? null),
        cliVersion: null,
        transport: null,
        runner: null,
        archived: false,
        createdAt: at,
        updatedAt: at,
        lastSeq: 0,
        turns: 0,
        costUsd: 0,
        tokens: NO_TOKENS,
        ...(links.parent === undefined ? {} : { parent: links.parent }),
      },
      own: {
        incarnation: null,
        lastAgentUuid: null,
        costBase: 0,
        initializeReply: null,
        hooks: request.hooks ?? [],
        ...(options === undefined ? {} : { options }),
        requestKey: request.requestKey ?? null,
        agent: request.agent ?? "claude",
      },
    })
  }

  adopt(session: LiveSession): LiveSession {
    const { requestKey } = session.kept.own
    this.#loaded.add(session)
    if (requestKey !== null) this.#byRequestKey.set(requestKey, session)
    session.touch()
    return session
  }

  /**
   * The session that a line of this connection belongs to. Each of the CLI's own session ids has one session of ours: a
   * known one comes back to its own, an empty placeholder becomes the new one's, and otherwise a linked session is made.
   */
  async route(current: LiveSession, message: Envelope, isBound = false): Promise<LiveSession> {
    const agentSessionId = textOf(message, "session_id")
    if (agentSessionId === undefined || agentSessionId === "" || message["parent_tool_use_id"] != null) return current
    if (agentSessionId.length > MAX_AGENT_ID_CHARS) return current
    if (agentSessionId === current.record.agentSessionId) return current
    const known = await this.byAgentId(agentSessionId)
    const isOther = known !== undefined && known !== current
    const isStranger = isOther && (await this.#isStranger(current, known, isBound))
    // Nothing is awaited from here on: of two agents that name one id at once the second finds what the first made of it.
    if (this.#byAgentId.get(agentSessionId) !== known) return this.route(current, message, isBound)
    if (isOther && !isStranger && mayReturn(current, known)) return this.#moveTo(current, known)
    if (current.record.agentSessionId === null) {
      this.#claim(current, agentSessionId)
      return current
    }
    const next = this.create({ agent: "external" }, { parent: current.id })
    next.change({ cwd: current.record.cwd, model: current.record.model, permissionMode: current.record.permissionMode })
    this.#claim(next, agentSessionId)
    return this.#moveTo(current, next)
  }

  /** A runner or a token stands behind its agent: a process without a token cannot come back as that agent. */
  async isGuarded(session: LiveSession): Promise<boolean> {
    const chain = await this.#chainOf(session)
    if (chain.some(({ own }) => own.launch !== undefined)) return true
    for (const { record } of chain) if (await this.#options.hasToken?.(record.id)) return true
    return false
  }

  /** An agent that is bound to its session comes back only to those of its own chain, and one without a token to no session of a token's. */
  async #isStranger(current: LiveSession, known: LiveSession, isBound: boolean): Promise<boolean> {
    if (!isBound && !(await this.isGuarded(known))) return false
    const [ofKnown, ofCurrent] = await Promise.all([this.#chainOf(known), this.#chainOf(current)])
    return ofKnown.at(-1)?.record.id !== ofCurrent.at(-1)?.record.id
  }

  /** The session and those that it came of. */
  async #chainOf({ kept }: LiveSession): Promise<readonly KeptSession[]> {
    const chain = new Map<string, KeptSession>()
    // In case a chain should ever bite its own tail.
    for (let next: KeptSession | undefined = kept; next !== undefined && !chain.has(next.record.id); ) {
      chain.set(next.record.id, next)
      const parent: string | undefined = next.record.parent
      next = parent === undefined ? undefined : await this.keptOf(parent)
    }
    return [...chain.values()]
  }

  async #moveTo(current: LiveSession, next: LiveSession): Promise<LiveSession> {
    const { wire: before } = next
    const reason = "another agent took its place"
    // Both at once: there is no moment at which somebody else could take it.
    await Promise.all([before && next.detach(before, reason), current.handOver(next)])
    void before?.closeWith(4001, reason).catch(() => undefined)
    return next
  }

  #claim(session: LiveSession, agentSessionId: string): void {
    session.change({ agentSessionId })
    this.#byAgentId.set(agentSessionId, session)
  }
}

/** Nobody who dials in comes to a session of a runner's, or to one that was stopped. Another agent's place is taken only by one that nobody knew until now. */
function mayReturn(current: LiveSession, known: LiveSession): boolean {
  // It was stopped meanwhile: whoever is at its end has nowhere to go.
  if (current.wire === undefined) return false
  const isOfRunner = known.kept.own.launch !== undefined
  if (isOfRunner ? current.kept.own.launch === undefined : known.record.exit !== undefined) return false
  return known.wire === undefined || (current.record.agentSessionId === null && !isOfRunner)
}
