import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"
import {
  type ClientHook,
  type HookNeeds,
  joinNeeds,
  missingNeeds,
  needsOf,
  ownNeeds,
  registrationOf,
} from "./client-hooks.ts"

export interface PartSyncOptions {
  readonly session: () => LiveSession
  readonly wanted: () => { hooks: readonly ClientHook[]; servers: ServerSet }
}

/** The hooks and servers that one process of the agent was told. */
interface Told {
  readonly incarnation: string
  readonly hooks: HookNeeds
  /** Undefined: not known, as after a restart of the hub. */
  readonly servers: string | undefined
}

const TIMEOUT_MS = 30_000
const NO_SERVERS = "{}"

/**
 * Brings what the clients want to the agent. Whatever is to be said is on the wire when the call returns, before anything
 * that a client says next; the promise is of the answers.
 */
export class PartSync {
  readonly #options: PartSyncOptions
  #told: Told | undefined

  constructor(options: PartSyncOptions) {
    this.#options = options
  }

  /** For the hub's first `initialize` to a new process: older CLIs take hooks only then. */
  greet(incarnation: string): Readonly<Record<string, unknown>> {
    const hooks = joinNeeds(ownNeeds(this.#options.session().kept), needsOf(this.#options.wanted().hooks))
    this.#told = { incarnation, hooks, servers: NO_SERVERS }
    return hooks.size === 0 ? {} : { hooks: registrationOf(hooks) }
  }

  /** The events among these that the agent calls nobody for; none without an agent. */
  unregistered(hooks: readonly ClientHook[]): readonly string[] {
    const told = this.#told
    if (told === undefined || this.#options.session().wire?.incarnation !== told.incarnation) return []
    return [...new Set(hooks.map((hook) => hook.event))].filter((event) => !told.hooks.has(event))
  }

  /**
   * `isAsked`: the servers are set even if they are what the agent was told last, for somebody who waits for its answer.
   * Resolves with that answer, if there is one.
   */
  async run(isAsked = false): Promise<ControlReply | undefined> {
    const session = this.#options.session()
    const incarnation = session.wire?.incarnation
    if (incarnation === undefined) return undefined
    if (this.#told?.incarnation !== incarnation) {
      this.#told = { incarnation, hooks: ownNeeds(session.kept), servers: undefined }
    }
    const [, servers] = await Promise.all([this.#tellHooks(session, this.#told), this.#tellServers(session, isAsked)])
    return servers
  }

  async #tellHooks(session: LiveSession, told: Told): Promise<void> {
    const needs = needsOf(this.#options.wanted().hooks)
    // An older one answers "Already initialized" and keeps what it has.
    if (missingNeeds(needs, told.hooks).length === 0 || !session.traits.initializesAgain) return
    const hooks = joinNeeds(told.hooks, needs)
    this.#told = { ...told, hooks }
    let isApplied = false
    try {
      const reply = await session.ask({ subtype: "initialize", hooks: registrationOf(hooks) }, TIMEOUT_MS)
      const payload = reply["response"]
      isApplied = reply["subtype"] === "success" && !(isObject(payload) && payload["hooks_applied"] === false)
    } finally {
      if (!isApplied && this.#told?.hooks === hooks) this.#told = { ...this.#told, hooks: told.hooks }
    }
  }

  async #tellServers(session: LiveSession, isAsked: boolean): Promise<ControlReply | undefined> {
    const { servers } = this.#options.wanted()
    const wanted = JSON.stringify(servers)
    const known = this.#told?.servers
    const isSame = known === wanted || (known === undefined && wanted === NO_SERVERS)
    if (isSame && !isAsked) return undefined
    if (this.#told !== undefined) this.#told = { ...this.#told, servers: wanted }
    try {
      return await session.ask({ subtype: "mcp_set_servers", servers }, TIMEOUT_MS)
    } catch (error) {
      // Whether it arrived is not known: the next time it is said again.
      if (this.#told?.servers === wanted) this.#told = { ...this.#told, servers: undefined }
      throw error
    }
  }
}

export type ServerSet = Readonly<Record<string, unknown>>

/** A client's part of a session: hooks, and its part of the MCP servers. */
export interface ClientPart {
  readonly clientId: string
  /** The token it came with; "" for what was set by REST, which belongs to nobody. */
  readonly tokenId: string
  readonly hooks: readonly ClientHook[]
  readonly servers: ServerSet
}

/** Servers that were set by a control request over REST are a part of their own. */
export const CONTROL_PART = "control"

/** Whether messages for this server come to whoever named it, through the agent's wire. */
export function isHosted(config: unknown): boolean {
  return isObject(config) && config["type"] === "sdk"
}

/** The `sdkMcpServers` of an `initialize`, as `mcp_set_servers` would write them: with what `sdkMcpServerConfigs` says of each. */
export function hostedServers(names: unknown, configs: unknown): ServerSet {
  const list = Array.isArray(names) ? names.filter((name) => typeof name === "string") : []
  return Object.fromEntries(list.map((name) => [name, { ...fieldOf(configs, name), type: "sdk", name }]))
}

/** The first client keeps a name; `taken` are those that a later part wanted too. */
export function unionOf(parts: Iterable<ClientPart>): {
  servers: ServerSet
  owners: ReadonlyMap<string, string>
} {
  const servers: Record<string, unknown> = {}
  const owners = new Map<string, string>()
  for (const part of parts) {
    for (const [name, config] of Object.entries(part.servers)) {
      if (owners.has(name)) continue
      owners.set(name, part.clientId)
      servers[name] = config
    }
  }
  return { servers, owners }
}

const MAX_PART_CHARS = 256 * 1024

export function isTooLarge(part: ClientPart): boolean {
  return JSON.stringify(part).length > MAX_PART_CHARS
}

/** A part as it was kept. Written by us; looked at all the same, since an older hub may have written it. */
export function readKeptPart(value: unknown): ClientPart | undefined {
  const clientId = textOf(value, "clientId")
  const tokenId = textOf(value, "tokenId")
  if (!isObject(value) || clientId === undefined || tokenId === undefined) return undefined
  const hooks = Array.isArray(value["hooks"]) ? value["hooks"].filter(isClientHook) : []
  const servers = isObject(value["servers"]) ? value["servers"] : {}
  return { clientId, tokenId, hooks, servers }
}

function isClientHook(value: unknown): value is ClientHook {
  if (!isObject(value) || !Array.isArray(value["callbackIds"])) return false
  return typeof value["event"] === "string" && typeof value["timeoutMs"] === "number"
}
