import { randomUUID } from "node:crypto"
import { decode, type Envelope, encodeForAgent } from "@signalbox/protocol"
import { type HybridConnection, lineBatches } from "@signalbox/transport"
import type { SessionTransport } from "../model/session-record.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { AgentWire } from "../session/agent-wire.ts"
import type { Continuity } from "../session/connection.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"

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
/** Of one connection. */
const MAX_NOTED_MALFORMED = 100
const MAX_ROTATIONS = 60
const ROTATION_WINDOW_MS = 60_000

/** An agent that dialled in: its lines go to the session they belong to, and that session speaks through it. */
export class AgentConnection implements AgentWire {
  transport: SessionTransport = "websocket"
  readonly #options: AgentConnectionOptions
  readonly #continuity: Continuity
  #incarnation: string
  #session: LiveSession
  #malformed = 0
  /** When the conversation went on in another session, lately. */
  #rotations: readonly number[] = []

  constructor(options: AgentConnectionOptions) {
    this.#options = options
    this.#session = options.session
    const { incarnation } = options.session.kept.own
    this.#continuity = continuityOf(incarnation, options.connection.request.lastRequestId)
    this.#incarnation = incarnation ?? randomUUID()
  }

  get incarnation(): string {
    return this.#incarnation
  }

  renew(): void {
    this.#incarnation = randomUUID()
  }

  get session(): LiveSession {
    return this.#session
  }

  isOn(connection: HybridConnection): boolean {
    return this.#options.connection === connection
  }

  send(message: Envelope): Promise<void> {
    return this.#options.connection.send(encodeForAgent(message, this.#session.traits))
  }

  closeWith(code: number, reason: string): Promise<void> {
    return this.#options.connection.closeWith(code, reason)
  }

  /** Events were posted: from now on it is known to be hybrid. */
  posted(): void {
    if (this.transport === "hybrid") return
    this.transport = "hybrid"
    this.#session.change({ transport: "hybrid" })
  }

  /** Until the connection is over. Never rejects. */
  async run(): Promise<void> {
    const { connection, metrics, onTrouble } = this.#options
    metrics.agentConnected(CONNECTED)
    await this.#takePlace().catch(onTrouble)
    const attached = this.#session.attach(this, this.#continuity).catch(onTrouble)
    try {
      for await (const lines of lineBatches(connection.lines)) await this.#ingest(lines)
    } catch (error) {
      onTrouble(error)
    }
    const closed = await connection.closed
    await this.#session.detach(this, closed.reason).catch(onTrouble)
    await attached
    metrics.agentDisconnected(CONNECTED)
  }

  /** Only one connection is a session's agent. An older one of the same process is a dead socket; another process ends. */
  async #takePlace(): Promise<void> {
    const before = this.#session.wire
    if (before === undefined) return
    const isSame = this.#continuity === "same"
    const reason = isSame ? "connected again" : "another agent took its place"
    await this.#session.detach(before, reason)
    void before.closeWith(isSame ? 1000 : 4001, reason).catch(() => undefined)
  }

  async #ingest(lines: readonly string[]): Promise<void> {
    const { metrics, room } = this.#options
    for (const line of lines) {
      metrics.lineReceived(line.length)
      const decoded = decode(line, "agent")
      if (decoded.kind === "malformed") {
        // Each is noted in the log: the first of them tell enough.
        this.#malformed += 1
        if (this.#malformed > MAX_NOTED_MALFORMED) continue
      } else {
        const session = this.#route(decoded.message)
        // By far the most lines belong where the last one did: nothing is awaited for them.
        if (session !== this.#session) this.#session = await session
      }
      this.#session.ingest(decoded)
    }
    await this.#session.pipeline.room()
    await room()
  }

  #route(message: Envelope): LiveSession | Promise<LiveSession> {
    const id = message["session_id"]
    if (id === undefined || id === this.#session.record.agentSessionId) return this.#session
    return this.#mayRotate() ? this.#rotate(message) : this.#session
  }

  async #rotate(message: Envelope): Promise<LiveSession> {
    const next = await this.#options.registry.route(this.#session, message, this.#options.isBound)
    if (next !== this.#session) this.#rotations = [...this.#rotations, performance.now()]
    return next
  }

  /** Sessions are for good: an agent that names a new one with every line goes on in the one it has. */
  #mayRotate(): boolean {
    const since = performance.now() - ROTATION_WINDOW_MS
    if (this.#rotations.length < MAX_ROTATIONS) return true
    this.#rotations = this.#rotations.filter((at) => at > since)
    return this.#rotations.length < MAX_ROTATIONS
  }
}

/** A CLI that comes back names its last message; but not before it wrote one, and not in hybrid mode. */
function continuityOf(incarnation: string | null, lastRequestId: string | undefined): Continuity {
  if (incarnation === null) return "new"
  return lastRequestId === undefined ? "unknown" : "same"
}
