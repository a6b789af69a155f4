import { randomUUID } from "node:crypto"
import { decode, type Envelope, encodeForAgent } from "@signalbox/protocol"
import { type HybridConnection, lineBatches } from "@signalbox/transport"
import type { SessionTransport } from "../model/session-record.ts"
import type { AgentWire } from "../session/agent-wire.ts"
import type { Continuity, LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"

export interface AgentConnectionOptions {
  readonly connection: HybridConnection
  readonly session: LiveSession
  readonly registry: SessionRegistry
  readonly onTrouble: (error: unknown) => void
}

/** An agent that dialled in: its lines go to the session they belong to, and that session speaks through it. */
export class AgentConnection implements AgentWire {
  transport: SessionTransport = "websocket"
  readonly #options: AgentConnectionOptions
  readonly #continuity: Continuity
  #incarnation: string
  #session: LiveSession

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
    const { connection, onTrouble } = this.#options
    await this.#takePlace()
    const attached = this.#session.attach(this, this.#continuity).catch(onTrouble)
    try {
      for await (const lines of lineBatches(connection.lines)) await this.#ingest(lines)
    } catch (error) {
      onTrouble(error)
    }
    const closed = await connection.closed
    await this.#session.detach(this, closed.reason).catch(onTrouble)
    await attached
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
    for (const line of lines) {
      const decoded = decode(line, "agent")
      if (decoded.kind !== "malformed") {
        const session = await this.#route(decoded.message)
        this.#session = session
      }
      this.#session.ingest(decoded)
    }
    await this.#session.pipeline.room()
  }

  #route(message: Envelope): LiveSession | Promise<LiveSession> {
    const id = message["session_id"]
    // By far the most lines belong where the last one did.
    if (id === undefined || id === this.#session.record.agentSessionId) return this.#session
    return this.#options.registry.route(this.#session, message)
  }
}

/** A CLI that comes back names its last message; but not before it wrote one, and not in hybrid mode. */
function continuityOf(incarnation: string | null, lastRequestId: string | undefined): Continuity {
  if (incarnation === null) return "new"
  return lastRequestId === undefined ? "unknown" : "same"
}
