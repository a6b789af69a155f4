import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { Enforce } from "@signalbox/protocol/hub-api"
import {
  COME_BACK,
  createHybridReceiver,
  createWebSocketAcceptor,
  type HybridConnection,
  type HybridReceiver,
  NOT_ALLOWED,
  type ReadingTurns,
  type UpgradeDecision,
  type UpgradeRequest,
  type WebSocketAcceptor,
} from "@signalbox/transport"
import type { Authority } from "../auth/authority.ts"
import { HubError, unknown } from "../errors.ts"
import { SECURITY_HEADERS } from "../http/reply.ts"
import type { Caller } from "../model/access.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import { AgentConnection, whose } from "./agent-connection.ts"
import { NOT_ENFORCED_DIRECTLY } from "./launch-command.ts"
import { RefusalNotes } from "./refusal-notes.ts"

export interface IngressOptions {
  readonly registry: SessionRegistry
  readonly log: EventLog
  readonly directory: Pick<Directory, "findSession">
  readonly authority: Authority
  readonly metrics: HubMetrics
  readonly turns: ReadingTurns
  /** Nobody is read while the store does not keep up. */
  readonly journal: { room(): Promise<void> }
  readonly anonymousAgents: boolean
  readonly policy: { readonly enforce: Enforce }
  readonly onTrouble: (what: string, error: unknown) => void
  readonly maxLineBytes?: number
}

/** The facts on somebody who asks to come in. */
interface Admission {
  readonly caller: Caller | null
  readonly loopback: boolean
}

interface Admitted {
  readonly session: LiveSession
  readonly tokenId: string | undefined
}

/** The length that fits in a header: a uuid does, and what does not is no uuid. */
const HEADER_TEXT = /^[\x21-\x7e]{1,256}$/
/** Short: a hub that stops waits for agents before it waits for requests, and whoever stops it waits for both. */
const CLOSE_TIMEOUT_MS = 1_000
/** No upgrade takes as long. */
const UPGRADE_MS = 10_000

/** The door for agents that dial in: WebSocket, and events posted beside it. */
export class AgentIngress {
  readonly #options: IngressOptions
  readonly #acceptor: WebSocketAcceptor
  readonly #hybrid: HybridReceiver
  readonly #admitted = new WeakMap<UpgradeRequest, Admitted>()
  readonly #connections = new Map<AgentConnection, Promise<void>>()
  readonly #tokens = new WeakMap<AgentConnection, string>()
  readonly #stopListening: () => void
  readonly #refusals: RefusalNotes
  /** Placeholders that were given to somebody who is still on the way in, and when. */
  readonly #given = new Map<string, number>()
  /** The acceptor tells of a request by its facts; the whole of it is found by the headers they share. */
  readonly #requests = new WeakMap<object, IncomingMessage>()

  constructor(options: IngressOptions) {
    this.#options = options
    this.#refusals = new RefusalNotes((refused) => options.onTrouble("an agent was not let in", refused))
    const limits = options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }
    this.#acceptor = createWebSocketAcceptor({
      verify: (request) => this.#verify(request),
      onVerifyFailed: (error) => options.onTrouble("an agent could not be let in", error),
      onDroppedLine: (dropped) => options.onTrouble("a line of an agent was too long and dropped", dropped),
      closeTimeoutMs: CLOSE_TIMEOUT_MS,
      ...limits,
    })
    this.#hybrid = createHybridReceiver({
      onPosted: (connection) => {
        for (const agent of this.#connections.keys()) if (agent.isOn(connection)) agent.posted()
      },
      whose: (lines, among) => whose(lines, this.#postersAmong(among), (id) => options.registry.loadedByAgentId(id)),
      ...limits,
    })
    this.#stopListening = options.authority.tokens.onEnded((tokenId) => {
      for (const agent of this.#connections.keys()) {
        if (this.#tokens.get(agent) === tokenId) void this.#end(agent, NOT_ALLOWED, "the token is no longer valid")
      }
    })
  }

  get count(): number {
    return this.#connections.size
  }

  handles(path: string): boolean {
    return readIngressPath(path) !== undefined
  }

  /** The token's owner is the connection's business; somebody without one must not learn whether there is one. */
  async receiveEvents(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const check = this.#options.authority.checkUpgrade(request)
    const error = check.ok ? this.#whyNotAgent(request, check) : check.error
    if (error === undefined) return this.#hybrid.receiveEvents(request, response)
    const { code, message, status } = error
    response.writeHead(status, { ...SECURITY_HEADERS, "content-type": "application/json", connection: "close" })
    response.end(`${JSON.stringify({ error: { code, message } })}\n`)
  }

  /** Never rejects. Resolves when the agent is gone. */
  async handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#requests.set(request.headers, request)
    const accepted = await this.#acceptor.handleUpgrade(request, socket, head)
    if (accepted === undefined) return
    const admitted = this.#admitted.get(accepted.request)
    if (admitted === undefined) return void accepted.closeWith(NOT_ALLOWED, "not admitted").catch(() => undefined)
    const connection = this.#hybrid.attach(accepted)
    const agent = new AgentConnection({
      connection,
      session: admitted.session,
      registry: this.#options.registry,
      isBound: admitted.tokenId !== undefined,
      metrics: this.#options.metrics,
      turns: this.#options.turns,
      journal: this.#options.journal,
      onTrouble: (error) => this.#options.onTrouble("an agent's connection", error),
    })
    if (admitted.tokenId !== undefined) this.#tokens.set(agent, admitted.tokenId)
    const run = agent.run()
    this.#connections.set(agent, run)
    await run
    this.#connections.delete(agent)
    this.#given.delete(admitted.session.id)
  }

  /** The hub goes down: agents are told to come back. Resolves when all they said is dealt with. */
  async close(): Promise<void> {
    this.#stopListening()
    const runs = [...this.#connections].map(async ([agent, run]) => {
      await this.#end(agent, COME_BACK, "the hub restarts")
      await run
    })
    await Promise.all(runs)
  }

  #end(agent: AgentConnection, code: number, reason: string): Promise<void> {
    return agent.closeWith(code, reason).catch(() => undefined)
  }

  #postersAmong(among: readonly HybridConnection[]): readonly AgentConnection[] {
    return [...this.#connections.keys()].filter((agent) => among.some((connection) => agent.isOn(connection)))
  }

  async #verify(request: UpgradeRequest): Promise<UpgradeDecision> {
    const admitted = await this.#admit(request)
    if ("ok" in admitted) return this.#refuse(request, admitted)
    const { session } = admitted
    if (session.isEnded) return this.#refuse(request, ENDED)
    if (session.kept.own.launch !== undefined) return this.#refuse(request, OF_A_RUNNER)
    if (this.#isToBeEnforced(session)) return this.#refuse(request, UNENFORCED)
    this.#admitted.set(request, admitted)
    const { lastAgentUuid } = session.kept.own
    const isTold = lastAgentUuid !== null && HEADER_TEXT.test(lastAgentUuid)
    return isTold ? { ok: true, lastRequestId: lastAgentUuid } : { ok: true }
  }

  #refuse({ path }: UpgradeRequest, refusal: Refusal): Refusal {
    const status = refusal.how === "close" ? refusal.code : refusal.status
    const reason = refusal.how === "close" ? refusal.reason : (refusal.message ?? "")
    this.#refusals.note({ path, status, reason })
    return refusal
  }

  async #admit(request: UpgradeRequest): Promise<Admitted | Refusal> {
    const { authority } = this.#options
    const raw = this.#requests.get(request.headers)
    const path = readIngressPath(request.path)
    if (raw === undefined || path === undefined) return refuse(404, "no agent is expected here")
    const check = authority.checkUpgrade(raw)
    if (!check.ok) return refuse(check.error.status, check.error.message)
    const { caller } = check
    const error = this.#whyNotAgent(raw, check)
    if (error !== undefined) return refuse(error.status, error.message)
    const session = await this.#sessionFor(request, path, caller)
    return "ok" in session ? session : { session, tokenId: caller?.tokenId }
  }

  #whyNotAgent({ headers }: IncomingMessage, { caller, loopback }: Admission): HubError | undefined {
    const isAnonymous = this.#options.anonymousAgents && loopback && headers.origin === undefined
    if (caller === null ? isAnonymous : caller.role === "agent") return undefined
    return new HubError("auth/required", "an agent needs the token of its session")
  }

  async #sessionFor(request: UpgradeRequest, path: IngressPath, caller: Caller | null): Promise<LiveSession | Refusal> {
    const { registry } = this.#options
    if (caller?.sessionId != null) await registry.take(caller.sessionId)
    const own = caller?.sessionId == null ? undefined : await registry.newestOf(caller.sessionId)
    if (path.kind === "session") {
      const named = await registry.newestOf(path.id)
      if (caller !== null && named !== own) return refuse(401, "this token is another session's")
      // Its id is no secret either: whoever has no token does not take the place of one who has.
      const isTheirs = caller === null && named !== undefined && (await registry.isGuarded(named))
      if (isTheirs) return refuse(401, "this session's agent needs the token that it was made with")
      return named ?? refuse(404, unknown("session", path.id).message)
    }
    if (caller !== null) return own ?? refuse(404, "the session of this token is gone")
    const known = await this.#findByLastMessage(request.lastRequestId)
    const left = known ?? (await this.#findPlaceholder())
    if (left !== undefined) return left
    return this.#isToBeEnforced() ? UNENFORCED : registry.create({ agent: "external" })
  }

  /** An admin may have made the session for an agent that is only judged by what it asks. */
  #isToBeEnforced(session?: LiveSession): boolean {
    return (session?.kept.own.options?.enforce ?? this.#options.policy.enforce) === "everything"
  }

  /**
   * An agent without a token that was cut off before it said anything cannot tell that it was here. The session it left,
   * with nothing in it and nobody's token for it, is as good as a new one.
   */
  async #findPlaceholder(): Promise<LiveSession | undefined> {
    const { registry, authority } = this.#options
    for (const session of registry.allLoaded()) {
      const { record, kept } = session
      const isEmpty = record.agentSessionId === null && record.title === null && record.turns === 0
      if (!isEmpty || session.wire !== undefined || session.isEnded) continue
      if (kept.own.incarnation === null || kept.own.agent !== "external" || kept.own.requestKey !== null) continue
      if (performance.now() - (this.#given.get(session.id) ?? Number.NEGATIVE_INFINITY) < UPGRADE_MS) continue
      this.#given.set(session.id, performance.now())
      if (!(await authority.tokens.hasForSession(session.id))) return session
      this.#given.delete(session.id)
    }
    return undefined
  }

  /**
   * An agent at the root that was here before names its last message; one of those who are away has it. The message is no
   * secret to viewers: where a token or a runner stands behind the agent, it proves nothing.
   */
  async #findByLastMessage(uuid: string | undefined): Promise<LiveSession | undefined> {
    if (uuid === undefined) return undefined
    const { registry, log, directory } = this.#options
    for (const session of registry.allLoaded()) {
      if (session.isEnded || session.kept.own.incarnation === null) continue
      const isLast = session.kept.own.lastAgentUuid === uuid
      const isFound = isLast || (session.wire === undefined && (await log.find(session.id, uuid)) !== undefined)
      if (isFound && !(await registry.isGuarded(session))) return session
    }
    const id = await directory.findSession({ by: "lastAgentUuid", key: uuid })
    const atRest = id === undefined ? undefined : await registry.find(id)
    return atRest === undefined || atRest.isEnded || (await registry.isGuarded(atRest)) ? undefined : atRest
  }
}

type Refusal = Extract<UpgradeDecision, { readonly ok: false; readonly how: "refuse-http" | "close" }>

const OF_A_RUNNER: Refusal = {
  ok: false,
  how: "close",
  code: NOT_ALLOWED,
  reason: "this session's agent is on a runner",
}
const UNENFORCED: Refusal = { ok: false, how: "close", code: NOT_ALLOWED, reason: NOT_ENFORCED_DIRECTLY }
const ENDED: Refusal = { ok: false, how: "close", code: NOT_ALLOWED, reason: "this session has ended for good" }

function refuse(status: number, message: string): Refusal {
  return { ok: false, how: "refuse-http", status, message }
}

/** Where an agent dials: at the root, or at the path of one session. */
type IngressPath = { readonly kind: "root" } | { readonly kind: "session"; readonly id: string }

/** Undefined when the path is not an agent's. The last segment after `/ws/` is the session, whatever stands before it. */
function readIngressPath(path: string): IngressPath | undefined {
  if (path === "/") return { kind: "root" }
  if (path.startsWith("/api/") || path.startsWith("/ws/session/")) return undefined
  const match = /\/ws\/(?:cli\/)?([^/]+)$/.exec(path)
  const id = match?.[1]
  return id === undefined || id === "" ? undefined : { kind: "session", id: decode(id) }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
