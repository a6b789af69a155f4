import { randomUUID } from "node:crypto"
import { type Envelope, encodeForAgent, textOf } from "@signalbox/protocol"
import { type HybridConnection, lineBatches } from "@signalbox/transport"
import type { SessionTransport } from "../model/session-record.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { AgentWire } from "../session/agent-wire.ts"
import type { Continuity } from "../session/life.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import { LineRouter } from "./line-router.ts"

export interface AgentConnectionOptions {
  readonly connection: HybridConnection
  readonly session: LiveSession
  readonly registry: SessionRegistry
  /** It showed the token of its session: it speaks in that one and those that came of it, and in no other. */
  readonly isBound: boolean
  readonly metrics: HubMetrics
  readonly room: () => Promise<void>
  readonly onTrouble: (error: unknown) => void
}

/** As metrics count it: whether one posts its events shows only later. */
const CONNECTED = "websocket"
const MAX_ASKED = 100

/** An agent that dialled in: its lines go to the session they belong to, and that session speaks through it. */
export class AgentConnection implements AgentWire {
  transport: SessionTransport = "websocket"
  readonly isReturning: boolean
  readonly #options: AgentConnectionOptions
  readonly #continuity: Continuity
  readonly #asked = new Set<string>()
  #incarnation: string
  readonly #router: LineRouter

  constructor(options: AgentConnectionOptions) {
    this.#options = options
    this.#router = new LineRouter(options)
    const { kept, record } = options.session
    const { incarnation } = kept.own
    const { lastRequestId } = options.connection.request
    this.#continuity = continuityOf(incarnation, lastRequestId)
    this.isReturning = lastRequestId !== undefined && record.agentSessionId === null
    this.#incarnation = incarnation ?? randomUUID()
  }

  get incarnation(): string {
    return this.#incarnation
  }

  renew(incarnation: string = randomUUID()): void {
    this.#incarnation = incarnation
  }

  get session(): LiveSession {
    return this.#router.session
  }

  get connection(): HybridConnection {
    return this.#options.connection
  }

  isOn(connection: HybridConnection): boolean {
    return this.#options.connection === connection
  }

  /** Whether the hub sent it this request. */
  hasBeenAsked(requestId: string): boolean {
    return this.#asked.has(requestId)
  }

  async send(message: Envelope): Promise<void> {
    if (!this.#options.isBound) this.#remember(message)
    const line = encodeForAgent(message, this.session.traits)
    this.#options.metrics.bytesSent(line.length)
    await this.#options.connection.send(line)
  }

  closeWith(code: number, reason: string): Promise<void> {
    return this.#options.connection.closeWith(code, reason)
  }

  /** Events were posted: from now on it is known to be hybrid. */
  posted(): void {
    if (this.transport === "hybrid") return
    this.transport = "hybrid"
    this.session.change({ transport: "hybrid" })
  }

  /** Until the connection is over. Never rejects. */
  async run(): Promise<void> {
    const { connection, metrics, onTrouble } = this.#options
    metrics.agentConnected(CONNECTED)
    await this.#takePlace().catch(onTrouble)
    const attached = this.session.attach(this, this.#continuity).catch(onTrouble)
    try {
      for await (const lines of lineBatches(connection.lines)) await this.#ingest(lines)
    } catch (error) {
      onTrouble(error)
    }
    const closed = await connection.closed
    await this.session.detach(this, closed.reason).catch(onTrouble)
    await attached
    metrics.agentDisconnected(CONNECTED)
  }

  /** The request that an answer names tells which agent without a token posted it. */
  #remember(message: Envelope): void {
    const requestId = message.type === "control_request" ? textOf(message, "request_id") : undefined
    if (requestId === undefined) return
    const [oldest] = this.#asked.add(requestId)
    if (this.#asked.size > MAX_ASKED && oldest !== undefined) this.#asked.delete(oldest)
  }

  /** Only one connection is a session's agent. An older one of the same process is a dead socket; another process ends. */
  async #takePlace(): Promise<void> {
    const before = this.session.wire
    if (before === undefined) return
    const isSame = this.#continuity === "same"
    const reason = isSame ? "connected again" : "another agent took its place"
    await this.session.detach(before, reason)
    void before.closeWith(isSame ? 1000 : 4001, reason).catch(() => undefined)
  }

  async #ingest(lines: readonly string[]): Promise<void> {
    const { metrics, room } = this.#options
    metrics.linesReceived({ lines: lines.length, bytes: lines.reduce((bytes, line) => bytes + line.length, 0) })
    for (const line of lines) {
      const routed = this.#router.take(this.#router.read(line))
      if (routed !== undefined) await routed
    }
    await this.session.pipeline.room()
    await room()
  }
}

/** A CLI that comes back names its last message; but not before it wrote one, and not in hybrid mode. */
function continuityOf(incarnation: string | null, lastRequestId: string | undefined): Continuity {
  if (incarnation === null) return "new"
  return lastRequestId === undefined ? "unknown" : "same"
}
