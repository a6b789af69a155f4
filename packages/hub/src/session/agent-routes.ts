import { defined, type Envelope } from "@signalbox/protocol"
import { NOT_ALLOWED } from "@signalbox/transport"
import type { KeptSession } from "../model/session-record.ts"
import type { LiveSession } from "./live-session.ts"
import type { SessionRegistry } from "./session-registry.ts"

export interface AgentRoutesOptions {
  readonly registry: Pick<SessionRegistry, "byAgentId" | "loadedByAgentId" | "claimAgentId" | "create" | "keptOf">
  /** Whether somebody was given a token to be this session's agent. */
  readonly tokens?: { hasForSession(sessionId: string): Promise<boolean> } | undefined
}

interface NamingLine {
  /** The CLI's own id of the conversation, as the line names it. */
  readonly agentSessionId: string
  /** The agent came with the token of its session, or by a runner. */
  readonly isBound: boolean
}

/** The CLI's own ids are uuids: what is longer names no session. */
const MAX_AGENT_ID_CHARS = 256

/** Finds the session that an agent's line belongs to, and decides who may come back to which. */
export class AgentRoutes {
  readonly #options: AgentRoutesOptions

  constructor(options: AgentRoutesOptions) {
    this.#options = options
  }

  /**
   * The session that a line of this connection belongs to. Each of the CLI's own session ids has one session of ours: a
   * known one comes back to its own, an empty placeholder becomes the new one's, and otherwise a linked session is made.
   */
  async route(current: LiveSession, message: Envelope, line: NamingLine): Promise<LiveSession> {
    const { registry } = this.#options
    const { agentSessionId, isBound } = line
    if (message["parent_tool_use_id"] != null || agentSessionId.length > MAX_AGENT_ID_CHARS) return current
    if (agentSessionId === current.record.agentSessionId) return current
    const known = await registry.byAgentId(agentSessionId)
    const isOther = known !== undefined && known !== current
    const isStranger = isOther && (await this.#isStranger(current, known, isBound))
    // Nothing is awaited from here on: of two agents that name one id at once the second finds what the first made of it.
    if (registry.loadedByAgentId(agentSessionId) !== known) return this.route(current, message, line)
    if (isOther && !isStranger && mayReturn(current, known)) {
      // Its folder is where it was, and a runner tells these only when they change.
      for (const fact of ["branch", "changes"] as const) {
        if (current.record[fact] === undefined) known.forget(fact)
        else known.change({ [fact]: current.record[fact] })
      }
      return this.#moveTo(current, known)
    }
    if (current.record.agentSessionId === null) {
      registry.claimAgentId(current, agentSessionId)
      return current
    }
    const { cwd, model, permissionMode, branch, changes, startedBy } = current.record
    const next = registry.create({ agent: "external" }, { parent: current.id, ...defined({ startedBy }) })
    next.change({ cwd, model, permissionMode, ...defined({ branch, changes }) })
    registry.claimAgentId(next, agentSessionId)
    return this.#moveTo(current, next)
  }

  /** A runner or a token stands behind its agent, or may have behind one that was purged: a process without a token cannot come back as that agent. */
  async isGuarded(session: LiveSession): Promise<boolean> {
    const chain = await this.#chainOf(session)
    if (chain.at(-1)?.record.parent !== undefined || chain.some(({ own }) => own.launch !== undefined)) return true
    for (const { record } of chain) if (await this.#options.tokens?.hasForSession(record.id)) return true
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
      next = parent === undefined ? undefined : await this.#options.registry.keptOf(parent)
    }
    return [...chain.values()]
  }

  async #moveTo(current: LiveSession, next: LiveSession): Promise<LiveSession> {
    const { wire: before } = next
    const reason = "another agent took its place"
    // Both at once: there is no moment at which somebody else could take it.
    await Promise.all([before && next.detach(before, reason), current.handOver(next)])
    void before?.closeWith(NOT_ALLOWED, reason).catch(() => undefined)
    return next
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
