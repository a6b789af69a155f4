import { randomUUID } from "node:crypto"
import {
  composeError,
  composeSuccess,
  createPendingRequests,
  type Envelope,
  encode,
  fieldOf,
  textOf,
  type UnlistedRequest,
} from "@signalbox/protocol"
import { eventOfCallback, TOOL_EVENT } from "@signalbox/protocol/runner-wire"
import { reasonOf } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import { isEnforcing } from "../session/kept-record.ts"
import type { LiveSession } from "../session/live-session.ts"
import { cancelLine } from "./ask-view.ts"
import { blockingOutput, type ClientHook, isForHook, mergeHookOutputs } from "./client-hooks.ts"
import type { ClientPart } from "./client-parts.ts"
import type { Enforcement } from "./enforcement.ts"

type Fields = Readonly<Record<string, unknown>>

export interface Member {
  readonly part: ClientPart
  /** Undefined while it is away. */
  readonly calls: ClientCalls | undefined
  /** Whether it stays when it goes away. */
  readonly isKept: boolean
}

export interface AgentCallsOptions {
  readonly session: () => LiveSession
  readonly members: () => Iterable<Member>
  readonly ownerOf: (serverName: string) => Member | undefined
  /** The way to a member, once it is here. Undefined: it is away. */
  readonly callsOf: (member: Member, signal: AbortSignal) => Promise<ClientCalls | undefined>
  readonly enforcement: Pick<Enforcement, "narrow" | "judgeAllowed">
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
}

const MAX_OPEN_CALLS = 1_000
const OTHER_TIMEOUT_MS = 60_000
const HANDSHAKE_TIMEOUT_MS = 30_000
/** A tool may take its time; its owner's end, or the agent's cancel, ends the wait before. */
const TOOL_TIMEOUT_MS = 24 * 60 * 60_000

/** An agent's calls to a session's clients. Each is answered, also when its owner is gone: unanswered, it would hang the turn. */
export class AgentCalls {
  readonly #options: AgentCallsOptions
  readonly #open = new Map<string, AbortController>()
  /** Answers that came while the process was away, by their request. */
  readonly #unsent = new Map<string, { answer: Envelope; incarnation: string }>()

  constructor(options: AgentCallsOptions) {
    this.#options = options
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
    this.#unsent.delete(requestId)
  }

  /** The process that was away is back: it gets the answers that came meanwhile. What its runner answered for us it ignores. */
  sendAgain(): void {
    const unsent = [...this.#unsent]
    this.#unsent.clear()
    for (const [requestId, { answer, incarnation }] of unsent) {
      this.#answer(requestId, answer, incarnation).catch((error: unknown) => this.#couldNot(error))
    }
  }

  #serve(requestId: string, run: (signal: AbortSignal) => Promise<Envelope>): void {
    const controller = new AbortController()
    this.#open.set(requestId, controller)
    const incarnation = this.#options.session().wire?.incarnation
    const serve = async () => {
      try {
        const answer = await run(controller.signal)
        // One that took it back wants nothing.
        if (!controller.signal.aborted) await this.#answer(requestId, answer, incarnation)
      } catch (error) {
        this.#couldNot(error)
      } finally {
        this.#open.delete(requestId)
      }
    }
    void serve()
  }

  /** Another process asked nothing. */
  async #answer(requestId: string, answer: Envelope, incarnation: string | undefined): Promise<void> {
    const { wire, isEnded, isParked } = this.#options.session()
    if (incarnation === undefined || isEnded || isParked) return
    if (wire !== undefined && wire.incarnation !== incarnation) return
    try {
      if (wire !== undefined) return await wire.send(answer)
    } catch (error) {
      this.#couldNot(error)
    }
    if (this.#unsent.size < MAX_OPEN_CALLS) this.#unsent.set(requestId, { answer, incarnation })
  }

  #couldNot(error: unknown): void {
    this.#options.trouble(this.#options.session(), "an answer to the agent could not be given", error)
  }

  async #runHooks(requestId: string, request: UnlistedRequest, signal: AbortSignal): Promise<Envelope> {
    const event = eventOfCallback(textOf(request, "callback_id"))
    const session = this.#options.session()
    const outputs = () => this.#outputs(request, event, signal)
    // A call of a hook that the hub does not know is judged too: nobody else would.
    const isJudged = isEnforcing(session.kept) && (event ?? TOOL_EVENT) === TOOL_EVENT
    const { enforcement } = this.#options
    if (isJudged) return composeSuccess(requestId, await enforcement.narrow(session, request, outputs))
    return composeSuccess(requestId, enforcement.judgeAllowed(session, request, await outputs()))
  }

  /** The answers of clients' hooks to it. */
  async #outputs(request: UnlistedRequest, event: string | undefined, signal: AbortSignal): Promise<Fields> {
    if (event === undefined) return {}
    const due = [...this.#options.members()].flatMap((member) =>
      member.part.hooks
        .filter((hook) => isForHook(hook, event, request["input"]))
        .flatMap((hook) =>
          hook.callbackIds.map((id) => this.#runHook(member, hook, { ...request, callback_id: id }, signal)),
        ),
    )
    return mergeHookOutputs(await Promise.all(due))
  }

  async #runHook(member: Member, hook: ClientHook, request: UnlistedRequest, signal: AbortSignal): Promise<unknown> {
    try {
      const calls = await this.#options.callsOf(member, signal)
      if (calls === undefined) throw new Error("the client is away")
      const reply = await calls.ask(request, { timeoutMs: hook.timeoutMs, signal })
      if (reply["subtype"] === "success") return reply["response"] ?? {}
    } catch {
      // Gone, away, or too slow: the same as an error of its own.
    }
    return hook.onFailure === "block" ? blockingOutput(hook.event, HOOK_FAILED) : {}
  }

  /** To the client that hosts the server. Answered with an error at once when it is gone, or the next turn starts a minute late. */
  async #passOn(requestId: string, request: UnlistedRequest, signal: AbortSignal): Promise<Envelope> {
    const name = textOf(request, "server_name") ?? ""
    const owner = this.#options.ownerOf(name)
    const calls = owner === undefined ? undefined : await this.#options.callsOf(owner, signal)
    if (calls === undefined) return composeError(requestId, `nobody is here to host the MCP server "${name}"`)
    const isTool = textOf(fieldOf(request, "message"), "method") === "tools/call"
    const timeoutMs = isTool ? TOOL_TIMEOUT_MS : HANDSHAKE_TIMEOUT_MS
    try {
      const reply = await calls.ask(request, { timeoutMs, signal })
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
    return [...this.#options.members()].flatMap(({ calls }) => (calls?.client.mayAnswer === true ? calls : []))
  }
}

const HOOK_FAILED = "The program that decides on this did not answer, and it is to be blocked without it."

/** A client as its session's desk sees it. */
export interface DeskClient {
  /** A client that comes back has the same. */
  readonly id: string
  readonly tokenId: string
  /** Whether it may answer for a person: a viewer is asked nothing. */
  readonly mayAnswer: boolean
  tell(line: string): void
}

export interface CallOptions {
  readonly timeoutMs: number
  /** The agent wants no answer any more. */
  readonly signal: AbortSignal
}

/** Requests of the hub's to one client. Each settles: by its answer, its time, the agent's change of mind or the client's end. */
export class ClientCalls {
  readonly #client: DeskClient
  readonly #pending = createPendingRequests<ControlReply>({ memory: 0 })
  /** The calls that wait: a client whose connection was not what it seemed is told them again. */
  readonly #waiting = new Map<string, { readonly line: string; readonly request: UnlistedRequest }>()

  constructor(client: DeskClient) {
    this.#client = client
  }

  get client(): DeskClient {
    return this.#client
  }

  async ask(request: UnlistedRequest, { timeoutMs, signal }: CallOptions): Promise<ControlReply> {
    const requestId = `hub-call-${randomUUID()}`
    // First, for it may throw: then nobody waits for an answer.
    const line = encode({ type: "control_request", request_id: requestId, request })
    const reply = this.#pending.wait(requestId, { timeoutMs, signal })
    this.#waiting.set(requestId, { line, request })
    this.#client.tell(line)
    try {
      return await reply
    } catch (error) {
      // Gone or not, it need not think about it any longer.
      this.#client.tell(cancelLine(requestId))
      throw error
    } finally {
      this.#waiting.delete(requestId)
    }
  }

  /** Waiting calls are made once more; a client ignores what it is at work on. */
  tellAgain(): void {
    for (const { line } of this.#waiting.values()) this.#client.tell(line)
  }

  /** The permissions that a hook's question suggested. */
  suggestionsOf(requestId: string): readonly unknown[] | undefined {
    const call = this.#waiting.get(requestId)
    if (call === undefined) return undefined
    const given = fieldOf(call.request, "input")?.["permission_suggestions"]
    return Array.isArray(given) ? given : []
  }

  /** True when the answer was to one of these. */
  answer(requestId: string, reply: ControlReply): boolean {
    return requestId.startsWith("hub-call-") && this.#pending.answer(requestId, reply) !== "kept"
  }

  close(reason: string): void {
    this.#pending.close(reason)
  }
}
