import { randomUUID } from "node:crypto"
import { type Envelope, textOf } from "@signalbox/protocol"
import type { NewSession } from "@signalbox/protocol/hub-api"
import { launchOptionsIn, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { NO_TOKENS } from "@signalbox/protocol/usage"
import { HubError } from "../errors.ts"
import type { KeptSession } from "../model/session-record.ts"
import type { AgentWire } from "./agent-wire.ts"
import type { LiveSession } from "./live-session.ts"

export interface SessionRegistryOptions {
  readonly open: (kept: KeptSession) => LiveSession
  /** Whether somebody was given a token to be this session's agent. */
  readonly hasToken?: (sessionId: string) => boolean
  readonly now?: () => Date
}

/** Bound on the CLI's own ids, which are uuids: anything longer names no session. */
const MAX_AGENT_ID_CHARS = 256

/** All sessions, by our id and by the CLI's own. */
export class SessionRegistry {
  readonly #options: SessionRegistryOptions
  readonly #sessions = new Map<string, LiveSession>()
  readonly #byAgentId = new Map<string, LiveSession>()
  readonly #byRequestKey = new Map<string, LiveSession>()

  constructor(options: SessionRegistryOptions) {
    this.#options = options
  }

  load(kept: readonly KeptSession[]): void {
    for (const session of kept) this.#add(this.#options.open(session))
  }

  /** Brings back what each session has in the store. What was on its way in one that was handed over goes to the newest. */
  async restore(): Promise<void> {
    for (const session of this.#sessions.values()) await session.load()
    for (const session of this.#sessions.values()) {
      const newest = this.newestOf(session.id)
      if (newest !== undefined && newest !== session) session.messages.moveTo(newest.messages)
    }
  }

  get(id: string): LiveSession {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new HubError("session/unknown", `there is no session ${id}`)
    return session
  }

  find(id: string): LiveSession | undefined {
    return this.#sessions.get(id)
  }

  /** The session in which this one's conversation goes on: the newest of its chain. */
  newestOf(id: string): LiveSession | undefined {
    let session = this.#sessions.get(id)
    // Bounded by the number of sessions, in case a chain should ever bite its own tail.
    for (let steps = this.#sessions.size; steps > 0 && session?.record.next !== undefined; steps -= 1) {
      session = this.#sessions.get(session.record.next) ?? session
    }
    return session
  }

  /** The connection of a process, wherever its conversation goes on by now. */
  wireOf(incarnation: string): AgentWire | undefined {
    for (const session of this.#sessions.values()) {
      if (session.greetedWire?.incarnation === incarnation) return session.greetedWire
    }
    return undefined
  }

  byRequestKey(key: string): LiveSession | undefined {
    return this.#byRequestKey.get(key)
  }

  /** It was asked for by another key now, which means the same session from now on. */
  rekey(session: LiveSession, requestKey: string): void {
    session.changeOwn({ requestKey })
    this.#byRequestKey.set(requestKey, session)
  }

  all(): IterableIterator<LiveSession> {
    return this.#sessions.values()
  }

  /** The session of this id of the CLI's own. */
  byAgentId(agentSessionId: string): LiveSession | undefined {
    return this.#byAgentId.get(agentSessionId)
  }

  create(request: NewSession, links: { parent?: string } = {}): LiveSession {
    return this.adopt(this.draft(request, links))
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
    this.#add(session)
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
    const known = this.#byAgentId.get(agentSessionId)
    if (known !== undefined && known !== current && this.#mayReturn(current, known, isBound)) {
      return this.#moveTo(current, known)
    }
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
  isGuarded(session: LiveSession): boolean {
    const { hasToken = () => false } = this.#options
    return this.#chainOf(session).some(({ id, kept }) => kept.own.launch !== undefined || hasToken(id))
  }

  #firstOf(session: LiveSession): LiveSession {
    return this.#chainOf(session).at(-1) ?? session
  }

  /** The session and those that it came of. */
  #chainOf(session: LiveSession): readonly LiveSession[] {
    const chain = new Set<LiveSession>()
    // In case a chain should ever bite its own tail.
    for (let next: LiveSession | undefined = session; next !== undefined && !chain.has(next); ) {
      chain.add(next)
      next = next.record.parent === undefined ? undefined : this.#sessions.get(next.record.parent)
    }
    return [...chain]
  }

  /**
   * An agent that is bound to its session comes back only to those of its own chain, and one without a token to no session of
   * a token's; nobody who dials in to a session of a runner's, or to one that was stopped. Another agent's place is taken only
   * by one that nobody knew until now.
   */
  #mayReturn(current: LiveSession, known: LiveSession, isBound: boolean): boolean {
    // It was stopped meanwhile: whoever is at its end has nowhere to go.
    if (current.wire === undefined) return false
    if ((isBound || this.isGuarded(known)) && this.#firstOf(known) !== this.#firstOf(current)) return false
    const isOfRunner = known.kept.own.launch !== undefined
    if (isOfRunner ? current.kept.own.launch === undefined : known.record.exit !== undefined) return false
    return known.wire === undefined || (current.record.agentSessionId === null && !isOfRunner)
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

  #add(session: LiveSession): void {
    const { record, own } = session.kept
    this.#sessions.set(record.id, session)
    // The newer of two sessions wins: the older one was stopped.
    if (record.agentSessionId !== null) this.#byAgentId.set(record.agentSessionId, session)
    if (own.requestKey !== null) this.#byRequestKey.set(own.requestKey, session)
  }
}
