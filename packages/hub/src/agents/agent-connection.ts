import { randomUUID } from "node:crypto"
import { type Envelope, encodeForAgent, fieldOf, textOf } from "@signalbox/protocol"
import { COME_BACK, type HybridConnection, NOT_ALLOWED, type ReadingTurns } from "@signalbox/transport"
import type { SessionTransport } from "../model/session-record.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { AgentWire } from "../session/agent-control.ts"
import { LineRouter } from "../session/agent-intake.ts"
import type { Continuity } from "../session/life.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"

export interface AgentConnectionOptions {
  readonly connection: HybridConnection
  readonly session: LiveSession
  readonly registry: SessionRegistry
  /** It showed the token of its session: it speaks in that one and those that came of it, and in no other. */
  readonly isBound: boolean
  readonly metrics: HubMetrics
  readonly turns: ReadingTurns
  readonly journal: { room(): Promise<void> }
  readonly onTrouble: (error: unknown) => void
}

/** As metrics count it: whether one posts its events shows only later. */
const CONNECTED = "websocket"
const MAX_ASKED = 100

/** An agent that dialled in: its lines go to the session they belong to, and that session speaks through it. */
export class AgentConnection implements AgentWire {
  transport: SessionTransport = "websocket"
  readonly hearsOnce = false
  readonly isReturning: boolean
  readonly #options: AgentConnectionOptions
  readonly #continuity: Continuity
  readonly #asked = new Set<string>()
  #incarnation: string
  #isGivenUp = false
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
    this.#options.registry.refuseIfLapsed(this.session)
    if (!this.#options.isBound) this.#remember(message)
    const line = encodeForAgent(message, this.session.traits)
    this.#options.metrics.bytesSent(line.length)
    await this.#options.connection.send(line)
  }

  closeWith(code: number, reason: string): Promise<void> {
    return this.#options.connection.closeWith(code, reason)
  }

  giveUp(): void {
    this.#isGivenUp = true
    void this.closeWith(COME_BACK, "the store did not take it").catch(() => undefined)
  }

  /** Events were posted: from now on it is known to be hybrid. */
  posted(): void {
    if (this.transport === "hybrid") return
    this.transport = "hybrid"
    this.session.change({ transport: "hybrid" })
  }

  /** Until the connection is over. Never rejects. */
  async run(): Promise<void> {
    const { connection, metrics, onTrouble, turns } = this.#options
    metrics.agentConnected(CONNECTED)
    await this.#takePlace().catch(onTrouble)
    const attached = this.session.attach(this, this.#continuity).catch(onTrouble)
    try {
      for await (const share of turns.shares(connection.lines)) await this.#ingest(share)
    } catch (error) {
      onTrouble(error)
      // The rest of its lines would be dropped in silence: the agent comes back, and repeats those that were not confirmed.
      void connection.closeWith(COME_BACK, "the hub could not take it").catch(() => undefined)
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
    void before.closeWith(isSame ? 1000 : NOT_ALLOWED, reason).catch(() => undefined)
  }

  async #ingest(lines: readonly string[]): Promise<void> {
    const { metrics, journal } = this.#options
    metrics.linesReceived({ lines: lines.length, bytes: lines.reduce((bytes, line) => bytes + line.length, 0) })
    for (const line of lines) {
      if (this.#isGivenUp) return
      const routed = this.#router.take(this.#router.read(line))
      if (routed !== undefined) await routed
    }
    await this.session.history.room()
    await journal.room()
  }
}

/** A CLI that comes back names its last message; but not before it wrote one, and not in hybrid mode. */
function continuityOf(incarnation: string | null, lastRequestId: string | undefined): Continuity {
  if (incarnation === null) return "new"
  return lastRequestId === undefined ? "unknown" : "same"
}

/**
 * Finds the agent that posted these events, among those that dialled the root without a token. Events name their
 * conversation or the request that they answer; otherwise they are from the only agent that could say something new.
 * Undefined: the agent is not known, and nobody gets what may be another's.
 */
export function whose(
  lines: readonly string[],
  agents: readonly AgentConnection[],
  sessionOf: (agentSessionId: string) => LiveSession | undefined,
): HybridConnection | undefined {
  let isNamed = false
  for (const line of lines) {
    const message: unknown = JSON.parse(line)
    const home = sessionOf(textOf(message, "session_id") ?? "")
    const named = home === undefined ? undefined : agents.find(({ session }) => session === home)
    if (named !== undefined) return named.connection
    isNamed ||= home !== undefined
    const answered = textOf(fieldOf(message, "response"), "request_id")
    const asked = answered === undefined ? undefined : agents.find((agent) => agent.hasBeenAsked(answered))
    if (asked !== undefined) return asked.connection
  }
  // A conversation that goes on elsewhere is not the next one of an agent that has its own.
  if (agents.length === 1 && !isNamed) return agents[0]?.connection
  const strangers = agents.filter(({ session }) => session.record.agentSessionId === null)
  const working = strangers.filter(({ session }) => session.phase() === "running")
  const [only, another] = strangers.length === 1 ? strangers : working
  return another === undefined ? only?.connection : undefined
}
