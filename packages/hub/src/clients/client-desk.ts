import { callbackOf } from "@signalbox/protocol/runner-wire"
import { Waker } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import { AgentCalls, ClientCalls, type DeskClient, type Member } from "./agent-calls.ts"
import type { ClientHook } from "./client-hooks.ts"
import { type ClientPart, CONTROL_PART, isTooLarge, PartSync, type ServerSet, unionOf } from "./client-parts.ts"
import type { Enforcement } from "./enforcement.ts"

export interface ClientDeskOptions {
  readonly session: LiveSession
  /** Keeps the parts of clients that will come back. */
  readonly keep: (desk: ClientDesk) => void
  /** Clients brought hooks, or took theirs away. */
  readonly hooksChanged: (desk: ClientDesk) => void
  readonly enforcement: Pick<Enforcement, "narrow" | "judgeAllowed">
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
}

export interface PartOutcome {
  /** Events that the client wants and this agent cannot be told of any more. */
  readonly unregisteredEvents: readonly string[]
  /** Another client hosts a server of this name already. */
  readonly takenServers: readonly string[]
}

export interface Brought {
  readonly hooks?: readonly ClientHook[]
  readonly servers?: ServerSet
  /** The agent is asked even if it has these servers already: somebody waits for its answer. */
  readonly isAsked?: boolean
}

const MAX_MEMBERS = 100
/** Official clients come back within seconds. */
const RETURN_MS = 10_000

/**
 * The clients of one session that speak the host's side of the wire: what they bring to the agent, and what the agent wants
 * of them. Everything the agent asks gets an answer, also when its owner is gone: unanswered, it would hang the turn.
 */
export class ClientDesk {
  readonly #options: ClientDeskOptions
  readonly #members = new Map<string, Member>()
  /** The agent's requests to them. */
  readonly agentCalls: AgentCalls
  readonly #sync: PartSync
  readonly #arrived = new Waker()
  /** After a restart clients are expected back: for a moment, whoever wants something of them waits. */
  #expectedUntil = 0
  #session: LiveSession

  constructor(options: ClientDeskOptions) {
    this.#options = options
    this.#session = options.session
    this.agentCalls = new AgentCalls({
      session: () => this.#session,
      members: () => this.#members.values(),
      ownerOf: (serverName) => this.#members.get(unionOf(this.#parts()).owners.get(serverName) ?? ""),
      callsOf: (member, signal) => this.#callsOf(member, signal),
      enforcement: options.enforcement,
      trouble: options.trouble,
    })
    this.#sync = new PartSync({ session: () => this.#session, wanted: () => this.#wanted() })
  }

  get session(): LiveSession {
    return this.#session
  }

  get sync(): PartSync {
    return this.#sync
  }

  get keptParts(): readonly ClientPart[] {
    const brings = ({ hooks, servers }: ClientPart) => hooks.length > 0 || Object.keys(servers).length > 0
    return [...this.#members.values()].filter(({ isKept, part }) => isKept && brings(part)).map(({ part }) => part)
  }

  /** At start: who was here before is away, but not for long, and what it brought is still wanted. */
  restore(parts: readonly ClientPart[]): void {
    this.#expectedUntil = Date.now() + RETURN_MS
    for (const part of parts) this.#members.set(part.clientId, { part, calls: undefined, isKept: true })
  }

  /** The conversation goes on in another session, with the same process and the same clients, and with who waits there. */
  moveTo(next: LiveSession, there: ClientDesk | undefined): void {
    this.#session = next
    if (there === undefined) return
    for (const [id, member] of there.#members) if (!this.#members.has(id)) this.#members.set(id, member)
  }

  hasRoomFor(clientId: string): boolean {
    return this.#members.has(clientId) || this.#members.size < MAX_MEMBERS
  }

  /** A client is here, or is here again with what it brought before. */
  join(client: DeskClient, isKept: boolean): void {
    const before = this.#members.get(client.id)
    before?.calls?.close("the client connected again")
    const part = before?.part ?? { clientId: client.id, tokenId: client.tokenId, hooks: [], servers: {} }
    this.#members.set(client.id, { part, calls: new ClientCalls(client), isKept })
    this.#arrived.wake()
  }

  /** A kept client is away; any other is gone with what it brought. */
  leave(client: DeskClient): void {
    const member = this.#members.get(client.id)
    if (member === undefined || member.calls?.client !== client) return
    member.calls.close("the client is gone")
    if (member.isKept) this.#members.set(client.id, { ...member, calls: undefined })
    else this.forget(client.id)
  }

  /** A client is back that may not have heard everything. */
  tellAgain(clientId: string): void {
    this.#members.get(clientId)?.calls?.tellAgain()
  }

  forget(clientId: string): void {
    const member = this.#members.get(clientId)
    if (member === undefined) return
    this.#members.delete(clientId)
    member.calls?.close("the client is gone")
    this.#changed(member)
  }

  forgetToken(tokenId: string): void {
    for (const { part } of this.#members.values()) if (part.tokenId === tokenId) this.forget(part.clientId)
  }

  /** A client's part from now on. Resolves with the agent's answer to the set of servers, if it was asked. */
  bring(clientId: string, brought: Brought): Promise<ControlReply | undefined> {
    const member = this.#members.get(clientId) ?? controlMember(clientId)
    // It left while what it brings was on its way: nobody would be there to answer for it.
    if (member === undefined) return Promise.resolve(undefined)
    const { isAsked = false, ...changed } = brought
    const part = { ...member.part, ...changed }
    if (isTooLarge(part)) throw new HubError("request/too-large", "hooks and servers are too large: bring fewer")
    const next: Member = { ...member, part }
    if (Object.keys(part.servers).length === 0 && clientId === CONTROL_PART) this.#members.delete(clientId)
    else this.#members.set(clientId, next)
    if (next.isKept) this.#options.keep(this)
    if (changed.hooks !== undefined) this.#options.hooksChanged(this)
    return this.#sync.run(isAsked)
  }

  /** The entries of a client's part that came to nothing. */
  missing(clientId: string): PartOutcome {
    const { hooks = [], servers = {} } = this.#members.get(clientId)?.part ?? {}
    const { owners } = unionOf(this.#parts())
    const takenServers = Object.keys(servers).filter((name) => owners.get(name) !== clientId)
    return { takenServers, unregisteredEvents: this.#sync.unregistered(hooks) }
  }

  /** The effect of a failure for each callback the agent may make: it blocks if any client wants it to. */
  get hookFailures(): Readonly<Record<string, "open" | "block">> {
    const failures: Record<string, "open" | "block"> = {}
    for (const { event, onFailure } of this.#wanted().hooks) {
      const id = callbackOf(event)
      failures[id] = onFailure === "block" || failures[id] === "block" ? "block" : "open"
    }
    return failures
  }

  hosts(clientId: string, serverName: string): boolean {
    return unionOf(this.#parts()).owners.get(serverName) === clientId
  }

  /** A client's `control_response`. True when it was to something the hub had asked that client. */
  answer(clientId: string, requestId: string, reply: ControlReply): boolean {
    return this.#members.get(clientId)?.calls?.answer(requestId, reply) ?? false
  }

  /** The permissions that the hub's request to this client suggested; undefined when it asked no such thing. */
  suggestionsOf(clientId: string, requestId: string): readonly unknown[] | undefined {
    return this.#members.get(clientId)?.calls?.suggestionsOf(requestId)
  }

  async #callsOf({ part }: Member, signal: AbortSignal): Promise<ClientCalls | undefined> {
    const calls = () => this.#members.get(part.clientId)?.calls
    const waitMs = this.#expectedUntil - Date.now()
    if (calls() !== undefined || waitMs <= 0) return calls()
    const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
    over.addEventListener("abort", () => this.#arrived.wake())
    while (calls() === undefined && !over.aborted) await this.#arrived.wait()
    return calls()
  }

  /** Those who are here come first: a name goes to a live owner before one who is away. */
  #parts(): readonly ClientPart[] {
    const members = [...this.#members.values()]
    const isHere = (member: Member) => member.calls !== undefined || member.part.clientId === CONTROL_PART
    return [...members.filter(isHere), ...members.filter((member) => !isHere(member))].map((member) => member.part)
  }

  #wanted(): { hooks: readonly ClientHook[]; servers: ServerSet } {
    const parts = this.#parts()
    return { hooks: parts.flatMap((part) => part.hooks), servers: unionOf(parts).servers }
  }

  #changed(gone: Member): void {
    if (gone.isKept) this.#options.keep(this)
    if (gone.part.hooks.length > 0) this.#options.hooksChanged(this)
    if (Object.values(gone.part.servers).length === 0) return
    this.#sync.run().catch((error: unknown) => {
      this.#options.trouble(this.#session, "the agent's MCP servers could not be changed", error)
    })
  }
}

/** A part that is set over REST belongs to nobody who could leave. */
function controlMember(clientId: string): Member | undefined {
  if (clientId !== CONTROL_PART) return undefined
  return { part: { clientId, tokenId: "", hooks: [], servers: {} }, calls: undefined, isKept: true }
}
