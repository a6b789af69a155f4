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
import {
  differingOptions,
  type LaunchOptions,
  optionsOfInitialize,
  uncarriedFields,
} from "@signalbox/protocol/launch-options"
import { mayControl } from "../auth/roles.ts"
import { asHubError, HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Ask, AskKind } from "../model/ask.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { DeskClient } from "./agent-calls.ts"
import { type AskView, forbidden, noteLine, questionOf } from "./ask-view.ts"
import type { PartOutcome } from "./client-desk.ts"
import type { ClientDesks } from "./client-desks.ts"
import { readClientHooks } from "./client-hooks.ts"
import { hostedServers, isHosted } from "./client-parts.ts"
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
    // The agent's traits are known when it has answered the hub: until then a client's next lines wait too.
    if (subtype === "initialize" && client.session.wire !== undefined) await desks.whenGreeted(client.session)
    // On the wire when this returns, but for an interrupt, which lets what was sent before go first; its answer is not waited for.
    void this.#pass(requestId, this.#replyTo(request, taken.signal))
  }

  /** An operator may not give an agent commands to run, but may host servers itself. */
  #isOwnServers(request: UnlistedRequest): boolean {
    const { client, desks } = this.#options
    if (!client.mayAnswer) return false
    const servers = request["servers"]
    if (request.subtype === "mcp_set_servers") return isObject(servers) && Object.values(servers).every(isHosted)
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

interface InitializeAnswerOptions {
  readonly client: { readonly id: string; readonly session: LiveSession; tell(line: string): void }
  readonly desks: ClientDesks
  readonly asks: AskView
  readonly request: UnlistedRequest
}

/**
 * A client's `initialize`: what it brings goes to the agent with what the others brought, and the reply is the one that the
 * hub got, with the open questions beside it.
 */
async function answerInitialize(options: InitializeAnswerOptions): Promise<ControlReply> {
  const { client, desks, asks, request } = options
  requireCarried(client.session, request)
  const title = textOf(request, "title")
  if (title !== undefined && client.session.record.title === null) client.session.change({ title: title.slice(0, 500) })
  const hooks = readClientHooks(request["hooks"])
  const servers = hostedServers(request["sdkMcpServers"], request["sdkMcpServerConfigs"])
  // Whatever this client had brought before is replaced: a program that comes back under its name may be another one.
  const outcome = desks
    .of(client.session)
    .bring(client.id, { hooks, servers })
    // The agent went away, or is slow: it gets this when it is back, and the client need not know.
    .catch(() => undefined)
  await desks.whenGreeted(client.session)
  await outcome
  const missing = desks.of(client.session).missing(client.id)
  tellWhatIsMissing(client, missing)
  return {
    subtype: "success",
    response: { ...(client.session.kept.own.initializeReply ?? NO_AGENT_YET), ...applied(hooks, missing) },
    ...pendingLists(await asks.pending()),
  }
}

/** Refuses, by name, a field that cannot reach this agent: the client would believe that the agent has it. */
export function requireCarried({ kept }: LiveSession, request: UnlistedRequest): void {
  const [field] = uncarriedFields(request)
  if (field !== undefined) throw refused(field, "a hub cannot bring it to an agent: leave it out")
  let asked: LaunchOptions
  try {
    asked = optionsOfInitialize(request)
  } catch (error) {
    throw new HubError("request/invalid", `initialize: ${error instanceof Error ? error.message : String(error)}`)
  }
  const [option] = differingOptions(asked, kept.own.options ?? {})
  const advice = "this agent was not started with it: make the session with it, or leave it out"
  if (option !== undefined) throw refused(option === "outputFormat" ? "jsonSchema" : option, advice)
}

function refused(field: string, why: string): HubError {
  return new HubError("request/invalid", `initialize: ${field}: ${why}`, { details: { field } })
}

/** The hub's own reply told of none: what became of this client's hooks is known here. */
function applied(hooks: readonly unknown[], { unregisteredEvents }: PartOutcome): { hooks_applied?: boolean } {
  return hooks.length === 0 ? {} : { hooks_applied: unregisteredEvents.length === 0 }
}

/** Enough for a client to go on with; what its agent can do it learns from the agent. */
const NO_AGENT_YET = {
  commands: [],
  models: [],
  agents: [],
  account: {},
  output_style: "default",
  available_output_styles: [],
}

function tellWhatIsMissing(client: InitializeAnswerOptions["client"], missing: PartOutcome): void {
  const { unregisteredEvents: events, takenServers: servers } = missing
  if (events.length > 0) {
    const message = `this agent takes no hooks after its start: make the session with hooks: ${JSON.stringify(events)}`
    client.tell(noteLine("hooks_not_registered", { events, message }))
  }
  if (servers.length > 0) {
    const message = "another client of this session hosts MCP servers of these names: choose others"
    client.tell(noteLine("servers_not_registered", { servers, message }))
  }
}

const LISTS: Readonly<Record<AskKind, string>> = {
  tool: "pending_permission_requests",
  question: "pending_permission_requests",
  plan: "pending_permission_requests",
  elicitation: "pending_elicitation_requests",
  dialog: "pending_user_dialog_requests",
}

function pendingLists(asks: readonly Ask[]): Readonly<Record<string, readonly unknown[]>> {
  const lists: Record<string, unknown[]> = { pending_permission_requests: [] }
  for (const ask of asks) (lists[LISTS[ask.kind]] ??= []).push(questionOf(ask))
  return lists
}
