import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import type { McpSdkServerConfigWithInstance } from "../types/mcp.ts"
import { ALWAYS_LOAD, type SdkMcpToolDefinition } from "./tool.ts"

export interface CreateSdkMcpServerOptions {
  name: string
  /** Default: 1.0.0 */
  version?: string
  tools?: readonly SdkMcpToolDefinition[]
  /** What the model is told about the server. */
  instructions?: string
  /** Keeps the descriptions of all its tools loaded. */
  alwaysLoad?: boolean
  /** How long a call may take, in milliseconds; the agent is told. */
  timeout?: number
}

/** A server in this process, ready for `mcpServers`. */
export interface SdkMcpServer extends McpSdkServerConfigWithInstance {
  instance: McpServer
  timeout?: number
}

interface ServerModule {
  readonly McpServer: typeof McpServer
}

let serverModule: ServerModule | undefined

/**
 * The protocol's library takes as long to load as all the rest together, and most programs make no server. It must be
 * there at once when one does, so it is required rather than imported.
 */
function loadServerModule(): ServerModule {
  if (serverModule !== undefined) return serverModule
  const { createRequire } = process.getBuiltinModule("node:module")
  const loaded: ServerModule = createRequire(import.meta.url)("@modelcontextprotocol/sdk/server/mcp.js")
  serverModule = loaded
  return loaded
}

export function createSdkMcpServer(options: CreateSdkMcpServerOptions): SdkMcpServer {
  const { name, version = "1.0.0", tools, instructions, alwaysLoad, timeout } = options
  const { McpServer: Server } = loadServerModule()
  const capabilities = tools === undefined ? {} : { tools: {} }
  const instance = new Server(
    { name, version },
    { capabilities, ...(instructions === undefined ? {} : { instructions }) },
  )
  for (const tool of tools ?? []) register(instance, tool, alwaysLoad === true)
  // What is no time at all is no limit.
  return { type: "sdk", name, instance, ...(Number.isFinite(timeout) && Number(timeout) > 0 ? { timeout } : {}) }
}

function register(server: McpServer, definition: SdkMcpToolDefinition, isLoaded: boolean): void {
  const { name, description, inputSchema, annotations, _meta } = definition
  const meta = isLoaded || _meta !== undefined ? { ...(isLoaded ? { [ALWAYS_LOAD]: true } : {}), ..._meta } : undefined
  server.registerTool(
    name,
    {
      description,
      inputSchema,
      ...(annotations === undefined ? {} : { annotations }),
      ...(meta === undefined ? {} : { _meta: meta }),
    },
    (args, extra) => definition.handler(args, extra),
  )
}
