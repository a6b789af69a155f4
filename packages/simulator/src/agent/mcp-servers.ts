import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { AgentCore } from "./core.ts"

interface Server {
  readonly name: string
  status: "pending" | "connected" | "failed" | "disabled"
  info?: Fields
  tools: Fields[]
  nextId: number
  connecting?: Promise<void>
}

export type McpCallResult = McpToolResult | { failed: string }

export interface McpToolResult {
  readonly content: readonly unknown[]
  readonly isError: boolean
  readonly structuredContent?: unknown
}

const HANDSHAKE_TIMEOUT_MS = 60_000

/** MCP servers that live in the host: every message to one is a control request. */
export class McpServers {
  readonly #servers = new Map<string, Server>()

  /** True for each name that is new. */
  add(names: readonly string[]): string[] {
    const added = names.filter((name) => !this.#servers.has(name))
    for (const name of added) this.#servers.set(name, { name, status: "pending", tools: [], nextId: 0 })
    return added
  }

  remove(name: string): boolean {
    return this.#servers.delete(name)
  }

  names(): string[] {
    return [...this.#servers.keys()]
  }

  has(name: string): boolean {
    return this.#servers.has(name)
  }

  /** A handshake done elsewhere, and told in `initialize`. */
  adopt(name: string, manifest: Readonly<Fields>): void {
    const server = this.#servers.get(name)
    const tools = manifest["tools"]
    if (server === undefined || !Array.isArray(tools)) return
    const info = fieldOf(manifest, "serverInfo")
    Object.assign(server, { status: "connected", tools: tools.filter(isObject), nextId: 2, ...(info ? { info } : {}) })
  }

  setEnabled(name: string, enabled: boolean): void {
    const server = this.#servers.get(name)
    if (server !== undefined) server.status = enabled ? "pending" : "disabled"
  }

  reset(name: string): void {
    const server = this.#servers.get(name)
    if (server === undefined) return
    server.status = "pending"
    delete server.connecting
  }

  toolNames(): string[] {
    return [...this.#servers.values()].flatMap(({ name, tools, status }) =>
      status === "connected" ? tools.map((tool) => `mcp__${wireName(name)}__${textOf(tool, "name") ?? ""}`) : [],
    )
  }

  initList(): { name: string; status: string }[] {
    return [...this.#servers.values()].map(({ name, status }) => ({ name, status }))
  }

  statusList(core: AgentCore): Fields[] {
    return [...this.#servers.values()].map(({ name, status, info, tools }) => {
      const listed = tools.map((tool) => ({ name: tool["name"], annotations: tool["annotations"] ?? {} }))
      return core.profile.shapes.mcpServer({ name, status, tools: listed, ...(info === undefined ? {} : { info }) })
    })
  }

  /** Resolves when every server is connected or has failed. Servers are contacted once. */
  async connect(core: AgentCore): Promise<void> {
    const pending = [...this.#servers.values()].filter(({ status }) => status === "pending")
    await Promise.all(pending.map((server) => (server.connecting ??= this.#handshake(core, server))))
  }

  /** The server and its tool that a name such as `mcp__files__read` speaks of. */
  find(toolName: string): { server: string; tool: string } | undefined {
    for (const { name, tools } of this.#servers.values()) {
      const prefix = `mcp__${wireName(name)}__`
      if (!toolName.startsWith(prefix)) continue
      const tool = toolName.slice(prefix.length)
      if (tools.some((known) => known["name"] === tool)) return { server: name, tool }
    }
    return undefined
  }

  async call(
    core: AgentCore,
    target: { server: string; tool: string; input: Readonly<Fields>; toolUseId: string },
    signal: AbortSignal,
  ): Promise<McpCallResult> {
    const server = this.#servers.get(target.server)
    if (server === undefined) return { failed: `MCP server not connected: ${target.server}` }
    const id = server.nextId++
    const meta = { "claudecode/toolUseId": target.toolUseId, progressToken: id }
    const params = { name: target.tool, arguments: target.input, _meta: meta }
    const message = { method: "tools/call", params, jsonrpc: "2.0", id }
    const answer = await this.#send(core, server, message, { signal })
    if (answer === undefined) return { failed: `MCP server "${target.server}" did not answer` }
    const error = fieldOf(answer, "error")
    if (error !== undefined)
      return { failed: `MCP error ${JSON.stringify(error["code"])}: ${textOf(error, "message") ?? ""}` }
    const result = fieldOf(answer, "result") ?? {}
    const content = result["content"]
    const structured = result["structuredContent"]
    return {
      content: Array.isArray(content) ? content : [],
      isError: result["isError"] === true,
      ...(structured === undefined ? {} : { structuredContent: structured }),
    }
  }

  async #handshake(core: AgentCore, server: Server): Promise<void> {
    const { profile } = core
    for (let tries = 0; tries < profile.quirks.mcpHandshakeTries; tries++) {
      if (await this.#tryHandshake(core, server)) return
    }
    server.status = "failed"
  }

  async #tryHandshake(core: AgentCore, server: Server): Promise<boolean> {
    const { profile } = core
    server.nextId = 0
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: profile.shapes.mcpClient }
    const hello = { method: "initialize", params, jsonrpc: "2.0", id: server.nextId++ }
    const timeoutMs = HANDSHAKE_TIMEOUT_MS / profile.quirks.mcpHandshakeTries
    const result = fieldOf(await this.#send(core, server, hello, { timeoutMs }), "result")
    if (result === undefined) return false
    const info = fieldOf(result, "serverInfo")
    if (info !== undefined) server.info = { ...info }
    const method = "notifications/initialized"
    const noted = profile.generation === 325 ? { jsonrpc: "2.0", method } : { method, jsonrpc: "2.0" }
    await this.#send(core, server, noted, { timeoutMs })
    const list = { method: "tools/list", jsonrpc: "2.0", id: server.nextId++ }
    const tools = fieldOf(await this.#send(core, server, list, { timeoutMs }), "result")?.["tools"]
    server.tools = Array.isArray(tools) ? tools.filter(isObject).map((tool) => ({ ...tool })) : []
    server.status = "connected"
    return true
  }

  async #send(
    core: AgentCore,
    server: Server,
    message: Fields,
    options: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<Readonly<Fields> | undefined> {
    const request = { subtype: "mcp_message", server_name: server.name, message }
    const answer = await core.host.ask(request, options)
    return answer.kind === "success" ? fieldOf(answer.payload, "mcp_response") : undefined
  }
}

function wireName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")
}
