import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { ClientHook } from "./hook-registration.ts"

export type ServerSet = Readonly<Record<string, unknown>>

/** What one client brings to a session: hooks, and its part of the MCP servers. */
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

/** Whoever was first keeps a name; `taken` are those that a later part wanted too. */
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
