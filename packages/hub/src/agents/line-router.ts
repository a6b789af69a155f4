import type { Decoded, Envelope } from "@signalbox/protocol"
import { createAgentReader } from "@signalbox/protocol/dialects"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"

export interface LineRouterOptions {
  readonly session: LiveSession
  readonly registry: SessionRegistry
  /** It speaks in its session and those that came of it, and in no other. */
  readonly isBound: boolean
  /** The process that speaks, where it is known for good: what it says may come when another is there already. */
  readonly spawn?: string
}

/** Bound for one connection. */
const MAX_NOTED_MALFORMED = 100
const MAX_ROTATIONS = 60
const ROTATION_WINDOW_MS = 60_000

/** Brings the lines of one connection to the session they belong to: the conversation may go on in another. */
export class LineRouter {
  readonly #options: LineRouterOptions
  /** Reads a line of this connection; each is read once. */
  readonly read = createAgentReader()
  #session: LiveSession
  #malformed = 0
  /** When the conversation went on in another session, lately. */
  #rotations: readonly number[] = []

  constructor(options: LineRouterOptions) {
    this.#options = options
    this.#session = options.session
  }

  get session(): LiveSession {
    // One that nobody knew was found to belong elsewhere, and not by what it named.
    if (this.#options.spawn === undefined) this.#session = this.#session.holder
    return this.#session
  }

  /** Awaited only if there is something to await. `key` is for an event that has none of its own. */
  take(decoded: Decoded, key?: string): void | Promise<void> {
    const current = this.session
    if (decoded.kind === "malformed") {
      // Each is noted in the log: the first of them tell enough.
      this.#malformed += 1
      if (this.#malformed > MAX_NOTED_MALFORMED) return undefined
    } else {
      const session = this.#route(decoded.message)
      // By far the most lines belong where the last one did: nothing is awaited for them.
      if (session !== current) return this.#takeElsewhere(session, decoded, key)
    }
    current.ingest(decoded, key, this.#options.spawn)
    return undefined
  }

  async #takeElsewhere(session: LiveSession | Promise<LiveSession>, decoded: Decoded, key?: string): Promise<void> {
    this.#session = await session
    this.#session.ingest(decoded, key, this.#options.spawn)
  }

  #route(message: Envelope): LiveSession | Promise<LiveSession> {
    const id = message["session_id"]
    if (id === undefined || id === this.#session.record.agentSessionId) return this.#session
    // Said before a conversation begins: the id that it names has no record yet, and may never have one.
    if (message.type === "auth_status") return this.#session
    // A conversation goes on elsewhere with the process that is here, and with no other.
    const { spawn } = this.#options
    if (spawn !== undefined && !this.#session.isSpokenForBy(spawn)) return this.#session
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
