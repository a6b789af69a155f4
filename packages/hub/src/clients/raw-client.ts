import { randomUUID } from "node:crypto"
import { defined, type Envelope, encode, fieldOf, textOf } from "@signalbox/protocol"
import { readFrontendLine } from "@signalbox/protocol/dialects"
import type { HubSettings, Session } from "@signalbox/protocol/hub-api"
import { COME_BACK } from "@signalbox/transport"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { Authority } from "../auth/authority.ts"
import { hasAccess, mayPermit } from "../auth/roles.ts"
import { asHubError, HubError } from "../errors.ts"
import type { ReplyRoom } from "../http/reply.ts"
import type { Caller } from "../model/access.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { Published } from "../session/history.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { EventLog } from "../store/event-log.ts"
import type { FanOut } from "../viewers/fan-out.ts"
import type { DeskClient } from "./agent-calls.ts"
import { AskView, type ClientPort, clientLine, forbidden, refusalLine } from "./ask-view.ts"
import type { ClientDesks } from "./client-desks.ts"
import { ClientRequests } from "./client-requests.ts"
import { steerEnvironment } from "./steering.ts"

/** The hub as its raw clients, and the doors they come by, know it. */
export interface ClientHub {
  readonly authority: Authority
  readonly metrics: HubMetrics
  readonly log: EventLog
  readonly replyRoom: ReplyRoom
  readonly registry: SessionRegistry
  readonly fanOut: FanOut
  readonly asks: AskDesk
  readonly desks: ClientDesks
  readonly settings: () => HubSettings
}

export interface RawClientOptions {
  readonly hub: ClientHub
  readonly session: LiveSession
  readonly caller: Caller
  readonly port: ClientPort
  /** A client that comes back under the same id finds what it had brought. */
  readonly id?: string
  readonly isKept?: boolean
  /** Whether it goes along when the conversation goes on in another session. */
  readonly follows?: boolean
}

/**
 * One client on the host's side of the wire, as if it were alone: it is answered by the hub where the hub knows, and by the
 * agent where only the agent does, and sees what the agent says and what others say to it.
 */
export class RawClient implements DeskClient {
  readonly id: string
  readonly tokenId: string
  readonly mayAnswer: boolean
  readonly #options: RawClientOptions
  readonly #asks: AskView
  /** Messages of its own that are on their way into the log: it does not see them there. */
  readonly #own = new Set<string>()
  readonly #requests: ClientRequests
  #session: LiveSession
  readonly #watching = new Map<string, () => void>()
  #tail: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: RawClientOptions) {
    const { caller, session, hub, port } = options
    this.#options = options
    this.#session = session
    this.id = options.id ?? `client-${randomUUID()}`
    this.tokenId = caller.tokenId
    this.mayAnswer = hasAccess(caller.role, "operator")
    this.#asks = new AskView({ ...hub, port, caller, session: () => this.#session })
    this.#requests = new ClientRequests({ ...hub, client: this, caller, asks: this.#asks })
    hub.desks.of(session).join(this, options.isKept === true)
    this.#watch(session)
  }

  get session(): LiveSession {
    return this.#session
  }

  tell(line: string): void {
    if (!this.#isClosed) this.#options.port.tell(line)
  }

  /** The calls that wait for this client, once more. */
  tellCallsAgain(): void {
    this.#options.hub.desks.of(this.#session).tellAgain(this.id)
  }

  /** The open questions, for a client that will not ask for them with `initialize`. */
  async showOpenAsks(): Promise<void> {
    if (!this.mayAnswer) return
    await this.#asks.showOpen().catch(() => this.#options.port.end(COME_BACK, "the open requests cannot be read now"))
  }

  /** Shows the message in progress, from its beginning. */
  showInProgress(): void {
    for (const line of this.#session.inProgress.lines()) this.#options.port.delta(line, true)
  }

  /** An event as this client sees it; undefined for what is not for it. */
  lineOf(event: StoredEvent, message: Envelope): string | undefined {
    if (event.from === "client" && event.key !== undefined && this.#own.has(event.key)) return undefined
    return clientLine(event, message)
  }

  published(items: readonly Published[]): void {
    const { port } = this.#options
    for (const item of items) {
      if (item.kind === "delta") {
        port.delta(item.line, item.message.type === "stream_event")
        continue
      }
      const line = this.lineOf(item.event, item.message)
      if (line !== undefined) port.event(line, item.event)
      // Its last event, and so after all that was said before it.
      if (item.event.from === "hub" && item.message["subtype"] === "ended") port.end(1000, "the session is over")
    }
  }

  /**
   * One line of the client's. Resolves when what it asked for is safe: a message or an answer in the log, a request on its
   * way. Rejects only with a HubError that may be gone at another try; all else is told to the client.
   */
  take(line: string): Promise<void> {
    const decoded = readFrontendLine(line, { newRequestId: randomUUID })
    return decoded.kind === "malformed" ? Promise.resolve() : this.takeMessage(decoded.message)
  }

  takeMessage(message: Envelope): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    switch (message.type) {
      // Not queued: what waits may be waiting for this very answer.
      case "control_response":
        return this.#answer(message)
      case "control_cancel_request":
        this.#requests.forget(textOf(message, "request_id") ?? "")
        return Promise.resolve()
      case "control_request":
        return this.#queue(() => this.#requests.take(message))
      case "user":
        return this.#queue(() => this.#send(message))
      case "update_environment_variables":
        return this.#queue(() => this.#setEnvironment(message))
      default:
        // `keep_alive` and `auth` are for the hub, and what no CLI reads is not sent to one.
        return Promise.resolve()
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const end of this.#watching.values()) end()
    this.#options.hub.desks.find(this.#session)?.leave(this)
  }

  #watch(session: LiveSession): void {
    const end = this.#options.hub.fanOut.watch(session.id, {
      published: (_id, items) => this.published(items),
      asked: (ask) => this.#asked(ask),
      changed: (view) => this.#changed(view),
      left: () => this.#options.port.end(COME_BACK, "the session is another hub's now"),
    })
    this.#watching.get(session.id)?.()
    this.#watching.set(session.id, end)
  }

  #asked(ask: Ask): void {
    if (this.mayAnswer) this.#asks.changed(ask)
  }

  /** The conversation goes on in another session. Both are watched: what the old one still has to say is said. */
  #changed(view: Session): void {
    const { hub, follows } = this.#options
    if (view.id !== this.#session.id || follows !== true || view.next === undefined) return
    const next = hub.registry.loaded(view.next)
    if (next === undefined) return
    this.#session = next
    this.#watch(next)
  }

  /** A client's requests and messages keep their order. */
  #queue(run: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(run)
    this.#tail = done.catch(() => undefined)
    return done
  }

  async #send(message: Envelope): Promise<void> {
    const uuid = textOf(message, "uuid") ?? randomUUID()
    if (!this.mayAnswer) return this.#refuse(forbidden(this.#options.caller, "send messages"), { uuid })
    const content = fieldOf(message, "message")?.["content"]
    if (typeof content !== "string" && !Array.isArray(content)) {
      return this.#refuse(new HubError("request/invalid", "a user message needs message.content"), { uuid })
    }
    this.#own.add(uuid)
    try {
      const session = this.#session
      await session.sendWire({ ...message, uuid }, this.#options.caller.name)
      // On the wire before whatever this client sends next.
      if (session.wire !== undefined) await session.messages.deliver(session.wire)
    } catch (error) {
      const refused = asHubError(error)
      this.#refuse(refused, { uuid })
      if (isPassing(refused)) throw refused
    } finally {
      this.#own.delete(uuid)
    }
  }

  async #setEnvironment(message: Envelope): Promise<void> {
    const { caller } = this.#options
    if (caller.role !== "admin") return this.#refuse(forbidden(caller, "set variables"))
    const variables = fieldOf(message, "variables") ?? {}
    if (!hasOnlyTexts(variables)) return this.#refuse(new HubError("request/invalid", "variables: an object of texts"))
    // Not waited for: its answer may be long in coming, and what follows is sent behind it.
    void this.#passVariables(variables, textOf(message, "request_id"))
  }

  /** An agent that does not tell leaves the client without a reply, as it would alone. */
  async #passVariables(variables: Readonly<Record<string, string>>, requestId: string | undefined): Promise<void> {
    const about = requestId === undefined ? {} : { request_id: requestId }
    try {
      const reply = await steerEnvironment(this.#session, variables, this.#options.caller.name)
      const isTold = fieldOf(reply, "response")?.["applied"] !== null
      if (requestId === undefined || !isTold) return
      this.tell(encode({ type: "control_response", response: { ...reply, ...about } }))
    } catch (error) {
      this.#refuse(asHubError(error), about)
    }
  }

  async #answer(message: Envelope): Promise<void> {
    const response = fieldOf(message, "response")
    const requestId = textOf(response, "request_id")
    if (response === undefined || requestId === undefined) return
    if (!this.mayAnswer) return this.#refuse(forbidden(this.#options.caller, "answer"), { request_id: requestId })
    const { caller, hub } = this.#options
    const desk = hub.desks.of(this.#session)
    const suggestions = desk.suggestionsOf(this.id, requestId)
    const permits = mayPermit(caller.role, response, { settings: hub.settings(), ...defined({ suggestions }) })
    const refusal = new HubError("auth/forbidden", `the role ${caller.role} may not give this permission`)
    const reply = permits ? response : { subtype: "error", request_id: requestId, error: refusal.message }
    if (desk.answer(this.id, requestId, reply))
      return permits ? undefined : this.#refuse(refusal, { request_id: requestId })
    try {
      await this.#asks.answer(requestId, response)
    } catch (error) {
      const refused = asHubError(error)
      // Somebody else was first: its cancel is on the way.
      if (refused.code === "ask/settled") return
      this.#refuse(refused, { request_id: requestId })
      if (isPassing(refused)) throw refused
    }
  }

  #refuse(error: HubError, about: Readonly<Record<string, unknown>> = {}): void {
    this.tell(refusalLine(error, about))
  }
}

function hasOnlyTexts(variables: Readonly<Record<string, unknown>>): variables is Readonly<Record<string, string>> {
  return Object.values(variables).every((value) => typeof value === "string")
}

/** Errors that may be gone in a moment: a client that can should try again. */
function isPassing({ code }: HubError): boolean {
  return code === "session/queue-full" || code === "store/full" || code === "store/failed"
}
