import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import {
  createHybridReceiver,
  createWebSocketAcceptor,
  type HybridReceiver,
  type UpgradeDecision,
  type UpgradeRequest,
  type WebSocketAcceptor,
} from "@signalbox/transport"
import type { Authority } from "../auth/authority.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { EventLog } from "../store/event-log.ts"
import { AgentConnection } from "./agent-connection.ts"
import { readIngressPath } from "./ingress-path.ts"

export interface IngressOptions {
  readonly registry: SessionRegistry
  readonly log: EventLog
  readonly authority: Authority
  readonly anonymousAgents: boolean
  readonly onTrouble: (what: string, error: unknown) => void
  readonly maxLineBytes?: number
}

interface Admitted {
  readonly session: LiveSession
}

/** The door for agents that dial in: WebSocket, and events posted beside it. */
export class AgentIngress {
  readonly #options: IngressOptions
  readonly #acceptor: WebSocketAcceptor
  readonly #hybrid: HybridReceiver
  readonly #admitted = new WeakMap<UpgradeRequest, Admitted>()
  readonly #connections = new Map<AgentConnection, Promise<void>>()
  /** The acceptor tells of a request by its facts; the whole of it is found by the headers they share. */
  readonly #requests = new WeakMap<object, IncomingMessage>()

  constructor(options: IngressOptions) {
    this.#options = options
    const limits = options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }
    this.#acceptor = createWebSocketAcceptor({
      verify: (request) => this.#verify(request),
      onVerifyFailed: (error) => options.onTrouble("an agent could not be let in", error),
      onDroppedLine: (dropped) => options.onTrouble("a line of an agent was too long and dropped", dropped),
      ...limits,
    })
    this.#hybrid = createHybridReceiver({
      onPosted: (connection) => {
        for (const agent of this.#connections.keys()) if (agent.isOn(connection)) agent.posted()
      },
      ...limits,
    })
  }

  get count(): number {
    return this.#connections.size
  }

  handles(path: string): boolean {
    return readIngressPath(path) !== undefined
  }

  receiveEvents(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#hybrid.receiveEvents(request, response)
  }

  /** Never rejects. Resolves when the agent is gone. */
  async handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#requests.set(request.headers, request)
    const accepted = await this.#acceptor.handleUpgrade(request, socket, head)
    if (accepted === undefined) return
    const admitted = this.#admitted.get(accepted.request)
    if (admitted === undefined) return void accepted.closeWith(4001, "not admitted").catch(() => undefined)
    const connection = this.#hybrid.attach(accepted)
    const agent = new AgentConnection({
      connection,
      session: admitted.session,
      registry: this.#options.registry,
      onTrouble: (error) => this.#options.onTrouble("an agent's connection", error),
    })
    const run = agent.run()
    this.#connections.set(agent, run)
    await run
    this.#connections.delete(agent)
  }

  /** The hub goes down: agents are told to come back. Resolves when all they said is dealt with. */
  async close(): Promise<void> {
    const runs = [...this.#connections].map(async ([agent, run]) => {
      await agent.closeWith(1012, "the hub restarts").catch(() => undefined)
      await run
    })
    await Promise.all(runs)
  }

  async #verify(request: UpgradeRequest): Promise<UpgradeDecision> {
    const session = await this.#admit(request)
    if ("ok" in session) return session
    if (session.isEnded) return { ok: false, how: "close", code: 4001, reason: "this session has ended for good" }
    this.#admitted.set(request, { session })
    const { lastAgentUuid } = session.kept.own
    return lastAgentUuid === null ? { ok: true } : { ok: true, lastRequestId: lastAgentUuid }
  }

  async #admit(request: UpgradeRequest): Promise<LiveSession | (UpgradeDecision & { ok: false })> {
    const { registry, authority, anonymousAgents } = this.#options
    const raw = this.#requests.get(request.headers)
    const path = readIngressPath(request.path)
    if (raw === undefined || path === undefined) return refuse(404, "no agent is expected here")
    const check = authority.checkUpgrade(raw)
    if (!check.ok) return refuse(check.error.status, check.error.message)
    const { caller } = check
    if (caller !== null && caller.role !== "agent") return refuse(401, "an agent needs the token of its session")
    const anonymous = anonymousAgents && check.loopback && raw.headers.origin === undefined
    if (caller === null && !anonymous) return refuse(401, "an agent needs the token of its session")
    const own = caller?.sessionId == null ? undefined : registry.newestOf(caller.sessionId)
    if (path.kind === "session") {
      const named = registry.newestOf(path.id)
      if (caller !== null && named !== own) return refuse(401, "this token is another session's")
      return named ?? refuse(404, `there is no session ${path.id}`)
    }
    if (caller !== null) return own ?? refuse(404, "the session of this token is gone")
    return (await this.#findByLastMessage(request.lastRequestId)) ?? registry.create({ agent: "external" })
  }

  /** An agent at the root that was here before names its last message; one of those who are away has it. */
  async #findByLastMessage(uuid: string | undefined): Promise<LiveSession | undefined> {
    if (uuid === undefined) return undefined
    for (const session of this.#options.registry.all()) {
      if (session.isEnded || session.kept.own.incarnation === null) continue
      if (session.kept.own.lastAgentUuid === uuid) return session
      if (session.wire === undefined && (await this.#options.log.find(session.id, uuid)) !== undefined) return session
    }
    return undefined
  }
}

function refuse(status: number, message: string): UpgradeDecision & { ok: false } {
  return { ok: false, how: "refuse-http", status, message }
}
