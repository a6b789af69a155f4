import {
  composeError,
  type Envelope,
  encode,
  fieldOf,
  isObject,
  textOf,
  type UnlistedRequest,
} from "@signalbox/protocol"
import type { HubSettings } from "@signalbox/protocol/hub-api"
import { mayControl } from "../auth/roles.ts"
import { asHubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { DeskClient } from "./agent-calls.ts"
import type { AskView } from "./ask-view.ts"
import { areHosted } from "./client-desk.ts"
import type { ClientDesks } from "./client-desks.ts"
import { forbidden } from "./client-lines.ts"
import { answerInitialize } from "./initialize-answer.ts"
import { steer } from "./steering.ts"

export interface ClientRequestsOptions {
  readonly client: DeskClient & { readonly session: LiveSession }
  readonly desks: ClientDesks
  readonly asks: AskView
  readonly caller: Caller
  readonly settings: () => HubSettings
}

const TIMEOUT_MS = 600_000
const MAX_OPEN = 256

/** The control requests of one client: each has one reply, to this client alone, with the id it chose. */
export class ClientRequests {
  readonly #options: ClientRequestsOptions
  /** By the client's id; aborted when the client takes it back. */
  readonly #open = new Map<string, AbortController>()

  constructor(options: ClientRequestsOptions) {
    this.#options = options
  }

  /** The client wants no reply any more: nor need the agent go on, if it can be told. */
  forget(requestId: string): void {
    const taken = this.#open.get(requestId)
    this.#open.delete(requestId)
    taken?.abort()
  }

  /** Resolves when the request is on its way. */
  async take(message: Envelope): Promise<void> {
    const requestId = textOf(message, "request_id")
    const given = fieldOf(message, "request")
    const subtype = textOf(given, "subtype")
    if (requestId === undefined) return
    if (given === undefined || subtype === undefined) return this.#fail(requestId, "a control_request needs a subtype")
    const request: UnlistedRequest = { ...given, subtype }
    const { caller, client, desks, settings } = this.#options
    if (!mayControl(caller.role, request, settings()) && !this.#isOwnServers(request)) {
      return this.#fail(requestId, forbidden(caller, `send ${subtype}`).message, "forbidden")
    }
    if (this.#open.size >= MAX_OPEN) return this.#fail(requestId, "too many requests wait for their answer")
    const taken = new AbortController()
    this.#open.set(requestId, taken)
    // What this agent can take is known when it has answered the hub: until then a client's next lines wait too.
    if (subtype === "initialize" && client.session.wire !== undefined) await desks.whenGreeted(client.session)
    // On the wire when this returns, but for an interrupt, which lets what was sent before go first; its answer is not waited for.
    void this.#pass(requestId, this.#replyTo(request, taken.signal))
  }

  /** An operator may not give an agent commands to run, but may host servers itself. */
  #isOwnServers(request: UnlistedRequest): boolean {
    const { client, desks } = this.#options
    if (!client.mayAnswer) return false
    const servers = request["servers"]
    if (request.subtype === "mcp_set_servers") return isObject(servers) && areHosted(servers)
    const name = textOf(request, "server_name")
    if (request.subtype !== "mcp_message" || name === undefined) return false
    return desks.of(client.session).hosts(client.id, name)
  }

  #replyTo(request: UnlistedRequest, signal: AbortSignal): Promise<ControlReply> {
    const { client, desks, asks, caller } = this.#options
    switch (request.subtype) {
      case "initialize":
        return answerInitialize({ client, desks, asks, request })
      case "mcp_set_servers":
        return steer(client.session, request, {
          by: caller.name,
          timeoutMs: TIMEOUT_MS,
          send: () => this.#setServers(request),
        })
      default:
        return steer(client.session, request, { by: caller.name, timeoutMs: TIMEOUT_MS, signal })
    }
  }

  async #setServers(request: UnlistedRequest): Promise<ControlReply> {
    const { servers } = request
    const { client, desks } = this.#options
    const desk = desks.of(client.session)
    const answered = await desk.bring(client.id, { servers: isObject(servers) ? servers : {}, isAsked: true })
    const reply = answered ?? { subtype: "success", response: { added: [], removed: [], errors: {} } }
    const { takenServers } = desk.missing(client.id)
    if (takenServers.length === 0) return reply
    const taken = takenServers.map((name) => [name, "another client hosts a server of this name"])
    const payload = fieldOf(reply, "response")
    const errors = { ...fieldOf(payload, "errors"), ...Object.fromEntries(taken) }
    return { ...reply, response: { ...payload, errors } }
  }

  /** The reply goes to this client alone, with the id it chose. */
  async #pass(requestId: string, reply: Promise<ControlReply>): Promise<void> {
    let line: string
    try {
      line = encode({ type: "control_response", response: { ...(await reply), request_id: requestId } })
    } catch (error) {
      line = encode(composeError(requestId, asHubError(error).message))
    }
    // Deleted meanwhile: the client took it back.
    if (this.#open.delete(requestId)) this.#options.client.tell(line)
  }

  #fail(requestId: string, error: string, code?: string): void {
    this.#options.client.tell(encode(composeError(requestId, error, code)))
  }
}
