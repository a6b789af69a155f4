import type { JsonRpcMessage } from "@signalbox/protocol"
import { fieldOf, textOf, trusted } from "../base/wire.ts"
import type { McpBridge } from "../mcp/bridge.ts"
import type { McpDescription, McpManifest } from "../mcp/manifest.ts"
import { isInProcess } from "../mcp/sdk-mcp-server.ts"
import type { McpSdkServerConfigWithInstance, McpServerConfig } from "../types/mcp.ts"
import { answer, type Responder } from "./agent-requests.ts"

type Servers = Readonly<Record<string, McpServerConfig>>

/** The agent's reply when there is nothing to tell: it waits for an answer even to a notification. */
const STUB = { jsonrpc: "2.0", result: {}, id: 0 }

/** The MCP servers of this process, each behind its bridge to the agent. */
export class McpServers {
  readonly #sendToAgent: (serverName: string, message: JsonRpcMessage) => void
  readonly #servers = new Map<string, McpSdkServerConfigWithInstance>()
  /** Made when the agent first has something to say to the server. */
  readonly #bridges = new Map<string, Promise<McpBridge>>()

  constructor(servers: Servers, sendToAgent: (serverName: string, message: JsonRpcMessage) => void) {
    this.#sendToAgent = sendToAgent
    this.#connect(servers)
  }

  get names(): string[] {
    return [...this.#servers.keys()]
  }

  /** The first time with what each server has to offer: that spares the agent asking for it before its first turn. */
  async describe({ isFirst }: { isFirst: boolean }): Promise<McpDescription> {
    if (this.#servers.size === 0) return {}
    const configs = Object.fromEntries(
      [...this.#servers].flatMap(([name, config]) => {
        const told = toldOf(config)
        return Object.keys(told).length === 0 ? [] : [[name, told]]
      }),
    )
    const manifests = isFirst ? await this.#manifests() : {}
    return {
      sdkMcpServers: this.names,
      ...(Object.keys(configs).length === 0 ? {} : { sdkMcpServerConfigs: configs }),
      ...(Object.keys(manifests).length === 0 ? {} : { sdkMcpServerManifests: manifests }),
    }
  }

  async #manifests(): Promise<Record<string, McpManifest>> {
    const { manifestOf } = await import("../mcp/manifest.ts")
    const found = await Promise.all(
      [...this.#servers].map(async ([name, { instance }]) => {
        const manifest = await manifestOf(await this.#bridgeTo(name, instance))
        return manifest === undefined ? [] : [[name, manifest] as const]
      }),
    )
    return Object.fromEntries(found.flat())
  }

  /** Answers `mcp_message`. */
  readonly respond: Responder = async ({ body }) => {
    const name = textOf(body, "server_name") ?? ""
    const server = this.#servers.get(name)?.instance
    if (server === undefined) throw new Error(`SDK MCP server not found: ${name}`)
    // The server itself checks it, and answers what it does not understand.
    const message = trusted<JsonRpcMessage | undefined>(fieldOf(body, "message"))
    if (message === undefined) throw new Error(`A message for the MCP server ${name} is no JSON-RPC message`)
    const bridge = await this.#bridgeTo(name, server)
    const response = await bridge.receive(message)
    return answer({ mcp_response: response ?? STUB })
  }

  /** Makes these the servers from now on; returns how the agent is told. */
  async replace(servers: Servers): Promise<Record<string, unknown>> {
    const gone = this.names.filter((name) => !isSame(servers[name], this.#servers.get(name)))
    await Promise.all(gone.map((name) => this.#disconnect(name)))
    this.#connect(servers)
    const elsewhere = Object.entries(servers).filter(([, config]) => !isInProcess(config))
    const ours = Object.entries(servers).flatMap(([name, config]) =>
      isInProcess(config) ? [[name, { type: "sdk", name, ...toldOf(config) }]] : [],
    )
    return Object.fromEntries([...elsewhere, ...ours])
  }

  async close(): Promise<void> {
    await Promise.all(this.names.map((name) => this.#disconnect(name)))
  }

  #connect(servers: Servers): void {
    for (const [name, config] of Object.entries(servers)) {
      if (isInProcess(config)) this.#servers.set(name, config)
    }
  }

  #bridgeTo(name: string, server: McpSdkServerConfigWithInstance["instance"]): Promise<McpBridge> {
    const made = this.#bridges.get(name)
    if (made !== undefined) return made
    const sendToAgent = (message: JsonRpcMessage) => this.#sendToAgent(name, message)
    // Loaded with the first server, so that programs without any start sooner.
    const making = import("../mcp/bridge.ts").then((mcp) => mcp.createMcpBridge({ name, server, sendToAgent }))
    this.#bridges.set(name, making)
    return making
  }

  async #disconnect(name: string): Promise<void> {
    const bridge = this.#bridges.get(name)
    this.#bridges.delete(name)
    this.#servers.delete(name)
    try {
      await (await bridge)?.close()
    } catch {
      // Its own affair; the agent has no use for it any more.
    }
  }
}

function isSame(config: McpServerConfig | undefined, known: McpSdkServerConfigWithInstance | undefined): boolean {
  return config !== undefined && isInProcess(config) && config.instance === known?.instance
}

/** The part of a server's configuration that the agent needs. */
function toldOf({ timeout, tools }: McpSdkServerConfigWithInstance): Record<string, unknown> {
  return { ...(timeout ? { timeout } : {}), ...(tools === undefined ? {} : { tools }) }
}
