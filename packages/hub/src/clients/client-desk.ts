import { composeError, composeSuccess, type Envelope, fieldOf, textOf, type UnlistedRequest } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import { ClientCalls, type DeskClient } from "./client-calls.ts"
import { type ClientPart, CONTROL_PART, isHosted, isTooLarge, type ServerSet, unionOf } from "./client-part.ts"
import { blockingOutput, mergeHookOutputs } from "./hook-merge.ts"
import { type ClientHook, eventOfCallback, isForHook } from "./hook-registration.ts"
import { PartSync } from "./part-sync.ts"

export interface ClientDeskOptions {
  readonly session: LiveSession
  /** Keeps the parts of clients that will come back. */
  readonly keep: (desk: ClientDesk) => void
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

interface Member {
  readonly part: ClientPart
  /** Undefined while it is away. */
  readonly calls: ClientCalls | undefined
  /** Whether it stays when it goes away. */
  readonly isKept: boolean
}

const MAX_MEMBERS = 100
const MAX_OPEN_CALLS = 1_000
const OTHER_TIMEOUT_MS = 60_000
const HANDSHAKE_TIMEOUT_MS = 30_000
/** A tool may take its time; its owner's end, or the agent's cancel, ends the wait before. */
const TOOL_TIMEOUT_MS = 24 * 60 * 60_000

/**
 * The clients of one session that speak the host's side of the wire: what they bring to the agent, and what the agent wants
 * of them. Everything the agent asks gets an answer, also when its owner is gone: unanswered, it would hang the turn.
 */
export class ClientDesk {
  readonly #options: ClientDeskOptions
  readonly #members = new Map<string, Member>()
  readonly #open = new Map<string, AbortController>()
  readonly #sync: PartSync
  #session: LiveSession

  constructor(options: ClientDeskOptions) {
    this.#options = options
    this.#session = options.session
    this.#sync = new PartSync({ session: () => this.#session, wanted: () => this.#wanted() })
  }

  get session(): LiveSession {
    return this.#session
  }

  get sync(): PartSync {
    return this.#sync
  }

  get keptParts(): readonly ClientPart[] {
    return [...this.#members.values()].filter((member) => member.isKept).map((member) => member.part)
  }

  /** At start: who was here before is away, and what it brought is still wanted. */
  restore(parts: readonly ClientPart[]): void {
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

  /** What a client brings from now on. Resolves with the agent's answer to the set of servers, if it was asked. */
  bring(clientId: string, brought: Brought): Promise<ControlReply | undefined> {
    const member = this.#members.get(clientId) ?? emptyMember(clientId)
    const { isAsked = false, ...changed } = brought
    const part = { ...member.part, ...changed }
    if (isTooLarge(part)) throw new HubError("request/too-large", "hooks and servers are too large: bring fewer")
    const next: Member = { ...member, part }
    if (Object.keys(part.servers).length === 0 && clientId === CONTROL_PART) this.#members.delete(clientId)
    else this.#members.set(clientId, next)
    if (next.isKept) this.#options.keep(this)
    return this.#sync.run(isAsked)
  }

  /** What of a client's part came to nothing. */
  missing(clientId: string): PartOutcome {
    const { hooks = [], servers = {} } = this.#members.get(clientId)?.part ?? {}
    const { owners } = unionOf(this.#parts())
    const takenServers = Object.keys(servers).filter((name) => owners.get(name) !== clientId)
    return { takenServers, unregisteredEvents: this.#sync.unregistered(hooks) }
  }

  hosts(clientId: string, serverName: string): boolean {
    return unionOf(this.#parts()).owners.get(serverName) === clientId
  }

  /** The agent's control request that is no ask. False: there is nobody, and whoever calls answers. */
  call(message: Envelope): boolean {
    const requestId = textOf(message, "request_id")
    const request = fieldOf(message, "request")
    const subtype = textOf(request, "subtype")
    if (requestId === undefined || request === undefined || subtype === undefined) return false
    if (this.#open.size >= MAX_OPEN_CALLS || this.#open.has(requestId)) return this.#open.has(requestId)
    const asked: UnlistedRequest = { ...request, subtype }
    if (subtype === "hook_callback") this.#serve(requestId, (signal) => this.#runHooks(requestId, asked, signal))
    else if (subtype === "mcp_message") this.#serve(requestId, (signal) => this.#passOn(requestId, asked, signal))
    else if (this.#answerers().length === 0) return false
    else this.#serve(requestId, (signal) => this.#askAll(requestId, asked, signal))
    return true
  }

  /** The agent wants no answer to this any more. */
  cancel(requestId: string): void {
    this.#open.get(requestId)?.abort(new Error("the agent took it back"))
  }

  /** A client's `control_response`. True when it was to something the hub had asked that client. */
  answer(clientId: string, requestId: string, reply: ControlReply): boolean {
    return this.#members.get(clientId)?.calls?.answer(requestId, reply) ?? false
  }

  #serve(requestId: string, run: (signal: AbortSignal) => Promise<Envelope>): void {
    const controller = new AbortController()
    this.#open.set(requestId, controller)
    const incarnation = this.#session.wire?.incarnation
    const serve = async () => {
      try {
        const answer = await run(controller.signal)
        const { wire } = this.#session
        // Another process asked nothing; one that took it back wants nothing.
        if (!controller.signal.aborted && wire?.incarnation === incarnation) await wire?.send(answer)
      } catch (error) {
        this.#options.trouble(this.#session, "an answer to the agent could not be given", error)
      } finally {
        this.#open.delete(requestId)
      }
    }
    void serve()
  }

  async #runHooks(requestId: string, request: UnlistedRequest, signal: AbortSignal): Promise<Envelope> {
    const event = eventOfCallback(textOf(request, "callback_id"))
    if (event === undefined) return composeSuccess(requestId, {})
    const due = [...this.#members.values()].flatMap((member) =>
      member.part.hooks
        .filter((hook) => isForHook(hook, event, request["input"]))
        .flatMap((hook) =>
          hook.callbackIds.map((id) => this.#runHook(member, hook, { ...request, callback_id: id }, signal)),
        ),
    )
    return composeSuccess(requestId, mergeHookOutputs(await Promise.all(due)))
  }

  async #runHook(member: Member, hook: ClientHook, request: UnlistedRequest, signal: AbortSignal): Promise<unknown> {
    try {
      if (member.calls === undefined) throw new Error("the client is away")
      const reply = await member.calls.ask(request, { timeoutMs: hook.timeoutMs, signal })
      if (reply["subtype"] === "success") return reply["response"] ?? {}
    } catch {
      // Gone, away, or too slow: the same as an error of its own.
    }
    return hook.onFailure === "block" ? blockingOutput(hook.event, HOOK_FAILED) : {}
  }

  /** To the client that hosts the server. Answered with an error at once when it is gone, or the next turn starts a minute late. */
  async #passOn(requestId: string, request: UnlistedRequest, signal: AbortSignal): Promise<Envelope> {
    const name = textOf(request, "server_name") ?? ""
    const owner = this.#members.get(unionOf(this.#parts()).owners.get(name) ?? "")
    if (owner?.calls === undefined) return composeError(requestId, `nobody is here to host the MCP server "${name}"`)
    const isTool = textOf(fieldOf(request, "message"), "method") === "tools/call"
    const timeoutMs = isTool ? TOOL_TIMEOUT_MS : HANDSHAKE_TIMEOUT_MS
    try {
      const reply = await owner.calls.ask(request, { timeoutMs, signal })
      return { type: "control_response", response: { ...reply, request_id: requestId } }
    } catch (error) {
      return composeError(requestId, `the MCP server "${name}" did not answer: ${reasonOf(error)}`)
    }
  }

  /** A request we do not know: whoever can answer it does, and the first who does has done it for all. */
  async #askAll(requestId: string, request: UnlistedRequest, signal: AbortSignal): Promise<Envelope> {
    const done = new AbortController()
    const either = AbortSignal.any([signal, done.signal])
    const replies = this.#answerers().map(async (calls) => {
      const reply = await calls.ask(request, { timeoutMs: OTHER_TIMEOUT_MS, signal: either })
      if (reply["subtype"] !== "success") throw new Error(textOf(reply, "error") ?? "no reason was given")
      return reply
    })
    try {
      const reply = await Promise.any(replies)
      return { type: "control_response", response: { ...reply, request_id: requestId } }
    } catch (error) {
      const first: unknown = error instanceof AggregateError ? error.errors[0] : error
      return composeError(requestId, reasonOf(first), "unsupported_request")
    } finally {
      done.abort(new Error("another client answered"))
    }
  }

  #answerers(): readonly ClientCalls[] {
    return [...this.#members.values()].flatMap(({ calls }) => (calls?.client.mayAnswer === true ? calls : []))
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
    if (Object.values(gone.part.servers).length === 0) return
    this.#sync.run().catch((error: unknown) => {
      this.#options.trouble(this.#session, "the agent's MCP servers could not be changed", error)
    })
  }
}

const HOOK_FAILED = "The program that decides on this did not answer, and it is to be blocked without it."

function emptyMember(clientId: string): Member {
  const part = { clientId, tokenId: "", hooks: [], servers: {} }
  return { part, calls: undefined, isKept: clientId === CONTROL_PART }
}

/** Whether all of these are servers that live in the client itself. */
export function areHosted(servers: ServerSet): boolean {
  return Object.values(servers).every(isHosted)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
