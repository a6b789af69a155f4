import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields, McpServerFacts, NamedServer } from "../profiles/profile.ts"
import {
  type Acquaintance,
  annotationsOf,
  errorText,
  failureText,
  hostLink,
  introduce,
  type McpClient,
  type McpLink,
  shakeHands,
} from "./link.ts"

interface Server {
  readonly name: string
  /** Left out for one that lives in the host. */
  readonly own?: NamedServer
  /** Named on the command line: the host's own set does not replace it. */
  readonly isFixed: boolean
  status: "pending" | "connected" | "failed" | "disabled"
  error?: string
  known: Acquaintance
  nextId: number
  link?: McpLink
  connecting?: Promise<void>
}

export type McpCallResult = McpToolResult | { failed: string }

export interface McpToolResult {
  readonly content: readonly unknown[]
  readonly isError: boolean
  readonly structuredContent?: unknown
}

const HOST_TIMEOUT_MS = 60_000
const OWN_TIMEOUT_MS = 30_000
const NOTHING_KNOWN: Acquaintance = { tools: [], prompts: [], hasResources: false, nextId: 0 }

/** The MCP servers of an agent: those that live in the host, and those it starts or dials itself. */
export class McpServers {
  readonly #servers = new Map<string, Server>()
  readonly #client: McpClient

  constructor(client: McpClient) {
    this.#client = client
  }

  /** Servers in the host. Those of the names that are new. */
  add(names: readonly string[]): string[] {
    const added = names.filter((name) => !this.#servers.has(name))
    for (const name of added) this.#servers.set(name, newServer({ name, isFixed: false }))
    return added
  }

  /** Servers to start or dial. Those of the names that are new. */
  addOwn(servers: readonly NamedServer[], isFixed: boolean): string[] {
    const added = servers.filter(({ name }) => !this.#servers.has(name))
    for (const own of added) this.#servers.set(own.name, newServer({ name: own.name, own, isFixed }))
    return added.map(({ name }) => name)
  }

  remove(name: string): void {
    void this.#servers.get(name)?.link?.close()
    this.#servers.delete(name)
  }

  /** The names that the host may replace. */
  replaceable(): string[] {
    return [...this.#servers.values()].flatMap(({ name, isFixed }) => (isFixed ? [] : [name]))
  }

  has(name: string): boolean {
    return this.#servers.has(name)
  }

  errorOf(name: string): string | undefined {
    return this.#servers.get(name)?.error
  }

  /** The source of a server, as the newest generation tells it. */
  sourceOf(name: string): string {
    return this.#servers.get(name)?.own?.scope ?? "sdk"
  }

  /** A handshake done elsewhere, and told in `initialize`. */
  adopt(name: string, manifest: Readonly<Fields>): void {
    const server = this.#servers.get(name)
    const tools = manifest["tools"]
    if (server === undefined || !Array.isArray(tools)) return
    const info = fieldOf(manifest, "serverInfo")
    server.status = "connected"
    server.nextId = 2
    server.known = { ...NOTHING_KNOWN, tools: tools.filter(isObject), ...(info === undefined ? {} : { info }) }
  }

  async setEnabled(name: string, enabled: boolean): Promise<void> {
    const server = this.#servers.get(name)
    if (server === undefined) return
    if (!enabled) await server.link?.close()
    this.reset(name)
    if (!enabled) server.status = "disabled"
  }

  reset(name: string): void {
    const server = this.#servers.get(name)
    if (server === undefined) return
    void server.link?.close()
    server.status = "pending"
    delete server.connecting
    delete server.link
    delete server.error
  }

  toolNames(): string[] {
    return this.#connected().flatMap(({ name, known }) =>
      known.tools.map((tool) => `mcp__${wireName(name)}__${textOf(tool, "name") ?? ""}`),
    )
  }

  /** Their prompts, as commands. */
  promptNames(): string[] {
    return this.#connected().flatMap(({ name, known }) =>
      known.prompts.map((prompt) => `mcp__${wireName(name)}__${prompt}`),
    )
  }

  withResources(): string[] {
    return this.#connected().flatMap(({ name, known }) => (known.hasResources ? [name] : []))
  }

  initList(): { name: string; status: string; source: string }[] {
    return [...this.#servers.values()].map(({ name, status }) => ({ name, status, source: this.sourceOf(name) }))
  }

  statusList(): Fields[] {
    return [...this.#servers.values()].map((server) => this.#client.profile.shapes.mcpServer(factsOf(server)))
  }

  /** Resolves when every server is connected or has failed. Servers are contacted once. */
  async connect(): Promise<void> {
    const pending = [...this.#servers.values()].filter(({ status }) => status === "pending")
    await Promise.all(pending.map((server) => (server.connecting ??= this.#connectOne(server))))
  }

  /** Resolves when the servers that were started are gone. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].flatMap(({ link }) => link?.close() ?? []))
  }

  /** The server and its tool that a name such as `mcp__files__read` speaks of. */
  find(toolName: string): { server: string; tool: string } | undefined {
    for (const { name, known } of this.#servers.values()) {
      const prefix = `mcp__${wireName(name)}__`
      if (!toolName.startsWith(prefix)) continue
      const tool = toolName.slice(prefix.length)
      if (known.tools.some((each) => each["name"] === tool)) return { server: name, tool }
    }
    return undefined
  }

  async call(
    target: { server: string; tool: string; input: Readonly<Fields>; toolUseId: string },
    signal: AbortSignal,
  ): Promise<McpCallResult> {
    const params = { name: target.tool, arguments: target.input }
    const meta = (id: number) => ({ "claudecode/toolUseId": target.toolUseId, progressToken: id })
    const request = (id: number) => ({ method: "tools/call", params: { ...params, _meta: meta(id) } })
    const asked = await this.ask(target.server, request, signal)
    if ("failed" in asked) return asked
    const { content, structuredContent, isError } = asked.result
    return {
      content: Array.isArray(content) ? content : [],
      isError: isError === true,
      ...(structuredContent === undefined ? {} : { structuredContent }),
    }
  }

  /** Asks a server for anything, such as its resources. */
  async ask(
    name: string,
    request: (id: number) => { method: string; params?: Fields },
    signal: AbortSignal,
  ): Promise<{ result: Readonly<Fields> } | { failed: string }> {
    const server = this.#servers.get(name)
    if (server === undefined) return { failed: `MCP server not connected: ${name}` }
    try {
      const link = await this.#linkTo(server)
      const id = server.nextId++
      const answer = await link.send({ ...request(id), jsonrpc: "2.0", id }, { signal })
      if (answer === undefined) return { failed: `MCP server "${name}" did not answer` }
      const error = fieldOf(answer, "error")
      return error === undefined
        ? { result: fieldOf(answer, "result") ?? {} }
        : { failed: errorText(this.#client, error) }
    } catch (error) {
      return { failed: failureText(this.#client, error) }
    }
  }

  /** A server that went away is started again when it is wanted. */
  async #linkTo(server: Server): Promise<McpLink> {
    if (server.own === undefined) return this.#hostLink(server)
    if (server.link?.isOpen === true) return server.link
    const timeoutMs = ownTimeoutMs(this.#client)
    // The code that starts and dials servers is loaded where there are some.
    const { openLink } = await import("./own-link.ts")
    const link = await openLink(this.#client, server.own, timeoutMs)
    server.link = link
    if (server.status === "connected") {
      await introduce(link, { profile: this.#client.profile, isHosted: false, timeoutMs })
      server.nextId = 1
    }
    return link
  }

  async #connectOne(server: Server): Promise<void> {
    const isHosted = server.own === undefined
    const tries = isHosted ? this.#client.profile.quirks.mcpHandshakeTries : 1
    const timeoutMs = isHosted ? HOST_TIMEOUT_MS / tries : ownTimeoutMs(this.#client)
    try {
      for (let left = tries; left > 0 && server.status === "pending"; left--) {
        // The first message to a server in the host goes out at once, before the reply to who named it.
        const link = isHosted ? this.#hostLink(server) : await this.#linkTo(server)
        const known = await shakeHands(link, { profile: this.#client.profile, isHosted, timeoutMs })
        if (known === undefined) continue
        Object.assign(server, { known, nextId: known.nextId, status: "connected" })
      }
      if (server.status === "pending") this.#fail(server, `Connection to MCP server timed out after ${timeoutMs}ms`)
    } catch (error) {
      this.#fail(server, failureText(this.#client, error))
    }
    // The oldest generation tells of them in the order in which they came.
    if (!isHosted && this.#client.profile.quirks.listsServersAsTheyCome && this.#servers.delete(server.name)) {
      this.#servers.set(server.name, server)
    }
  }

  #hostLink(server: Server): McpLink {
    return (server.link ??= hostLink(this.#client, server.name))
  }

  #fail(server: Server, error: string): void {
    server.status = "failed"
    void server.link?.close()
    if (server.own !== undefined) server.error = error
  }

  #connected(): Server[] {
    return [...this.#servers.values()].filter(({ status }) => status === "connected")
  }
}

function newServer(given: Pick<Server, "name" | "own" | "isFixed">): Server {
  return { ...given, status: "pending", known: NOTHING_KNOWN, nextId: 0 }
}

function ownTimeoutMs({ launch }: McpClient): number {
  return Number(launch.env["MCP_TIMEOUT"]) || OWN_TIMEOUT_MS
}

function factsOf({ name, status, error, known, own }: Server): McpServerFacts {
  const tools = known.tools.map((tool) => ({ name: tool["name"], annotations: annotationsOf(tool) }))
  return { name, status, tools, info: known.info, error, own }
}

function wireName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")
}

/** A tool's name as people read it: `fetch_page` is `Fetch Page`. */
export function displayName(tool: string): string {
  return tool
    .split(/[_-]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ")
}
