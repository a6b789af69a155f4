import { defined, fieldOf, textOf } from "@signalbox/protocol/envelope"
import { objectsIn } from "../json.ts"
import type { Launch } from "../launch/launch.ts"
import type { Fields, WireProfile } from "../profiles/profile.ts"
import type { AskOptions, HostRequests } from "../wire/host-requests.ts"

/** The agent, as far as its MCP servers are concerned. */
export interface McpClient {
  readonly profile: WireProfile
  readonly launch: Launch
  /** Servers may live in the host, and ask it things. */
  readonly host: HostRequests
}

/** A way to an MCP server: through the host, to a process of our own, or to an address. */
export interface McpLink {
  /**
   * A request's answer; undefined where none came. A connection that breaks answers with an error, and one that cannot
   * be made throws an `McpLinkFailure`.
   */
  send(message: Fields, options: AskOptions): Promise<Readonly<Fields> | undefined>
  readonly isOpen: boolean
  /** Resolves when it is over, at the latest after a moment. */
  close(): Promise<void>
}

/** Why a server was not reached. Each generation has its own words for it. */
export type LinkTrouble =
  | { readonly kind: "no-such-command"; readonly command: string }
  | { readonly kind: "unreachable" }
  | { readonly kind: "other"; readonly message: string }

export class McpLinkFailure extends Error {
  readonly trouble: LinkTrouble

  constructor(trouble: LinkTrouble, options?: ErrorOptions) {
    super(trouble.kind === "other" ? trouble.message : trouble.kind, options)
    this.name = "McpLinkFailure"
    this.trouble = trouble
  }
}

/** The answer to a request whose connection is gone. */
export const CONNECTION_CLOSED = { error: { code: -32_000, message: "Connection closed" } }

/** A server that lives in the host: every message to it is a control request. */
export function hostLink({ host }: McpClient, name: string): McpLink {
  return {
    isOpen: true,
    async send(message, options) {
      const answer = await host.ask({ subtype: "mcp_message", server_name: name, message }, options)
      return answer.kind === "success" ? fieldOf(answer.payload, "mcp_response") : undefined
    },
    close: () => Promise.resolve(),
  }
}

// Words for a server and for what it said, as the version has them.

/** The hints of a tool that are kept. */
export function annotationsOf(tool: Readonly<Fields>): Fields {
  const hints = fieldOf(tool, "annotations") ?? {}
  const kept = { readOnlyHint: "readOnly", destructiveHint: "destructive", openWorldHint: "openWorld" }
  return Object.fromEntries(
    Object.entries(kept).flatMap(([hint, name]) => (hints[hint] === true ? [[name, true]] : [])),
  )
}

export function errorText({ profile }: McpClient, error: Readonly<Fields>): string {
  const message = textOf(error, "message") ?? ""
  const isClosed = error["code"] === CONNECTION_CLOSED.error.code && message === CONNECTION_CLOSED.error.message
  return isClosed && profile.quirks.tellsClosedPlainly
    ? message
    : `MCP error ${JSON.stringify(error["code"])}: ${message}`
}

/** Why a server was not reached, as the version's own runtime says it. */
export function failureText({ profile }: McpClient, error: unknown): string {
  if (!(error instanceof McpLinkFailure)) return error instanceof Error ? error.message : String(error)
  const { trouble } = error
  if (trouble.kind === "other") return trouble.message
  const { unreachable, noSuchCommand } = profile.quirks
  return trouble.kind === "unreachable" ? unreachable : noSuchCommand(trouble.command)
}

/** The question that a server has for the user, as the host is asked it. */
export function elicitation(
  server: string,
  { message, url, id, schema }: { message: unknown; url: string | undefined; id: unknown; schema: Fields | undefined },
  isOrdered: boolean,
): Fields {
  return defined({
    subtype: "elicitation",
    mcp_server_name: server,
    message,
    mode: url === undefined ? "form" : "url",
    url,
    elicitation_id: id,
    requested_schema: schema,
    property_order: isOrdered ? Object.keys(fieldOf(schema, "properties") ?? {}) : undefined,
  })
}

/** A server's own account of itself. */
export interface Acquaintance {
  readonly info?: Fields
  readonly tools: readonly Fields[]
  /** Names of its prompts, which are commands. */
  readonly prompts: readonly string[]
  readonly hasResources: boolean
  /** The number of the next request. */
  readonly nextId: number
}

export interface HandshakeOptions {
  readonly profile: WireProfile
  /** Lives in the host, which says less of itself and is told less. */
  readonly isHosted: boolean
  readonly timeoutMs: number
}

/** Makes a server's acquaintance. Undefined when it did not answer. */
export async function shakeHands(link: McpLink, options: HandshakeOptions): Promise<Acquaintance | undefined> {
  const { timeoutMs } = options
  const hello = await introduce(link, options)
  if (hello === undefined) return undefined
  const offers = fieldOf(hello, "capabilities") ?? {}
  let nextId = 1
  const listOf = async (what: "tools" | "prompts" | "resources") => {
    const answer = await link.send({ method: `${what}/list`, jsonrpc: "2.0", id: nextId++ }, { timeoutMs })
    return objectsIn(fieldOf(answer, "result")?.[what])
  }
  const info = fieldOf(hello, "serverInfo")
  const tools = offers["tools"] !== undefined || options.isHosted ? await listOf("tools") : []
  const prompts = offers["prompts"] === undefined ? [] : await listOf("prompts")
  const hasResources = offers["resources"] !== undefined
  if (hasResources) await listOf("resources")
  const named = prompts.flatMap((prompt) => textOf(prompt, "name") ?? [])
  return { ...(info === undefined ? {} : { info }), tools, prompts: named, hasResources, nextId }
}

/** Only the introduction, for a server that is known already and was lost. */
export async function introduce(link: McpLink, options: HandshakeOptions): Promise<Readonly<Fields> | undefined> {
  const { profile, isHosted, timeoutMs } = options
  const capabilities = isHosted ? {} : profile.quirks.mcpCapabilities
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: profile.shapes.mcpClient }
  const hello = { method: "initialize", params, jsonrpc: "2.0", id: 0 }
  const result = fieldOf(await link.send(hello, { timeoutMs }), "result")
  if (result === undefined) return undefined
  const method = "notifications/initialized"
  const noted = profile.quirks.notesVersionFirst ? { jsonrpc: "2.0", method } : { method, jsonrpc: "2.0" }
  await link.send(noted, { timeoutMs })
  return result
}
