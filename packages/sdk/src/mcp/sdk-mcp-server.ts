import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import type { ShapeOutput, ZodRawShapeCompat } from "@modelcontextprotocol/sdk/server/zod-compat.js"
import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/sdk/types.js"
import { defined, isObject } from "../base/wire.ts"
import type { McpSdkServerConfigWithInstance, McpServerConfig } from "../types/mcp.ts"

// Only types come from the protocol's library here: a program that never makes a server never loads it.

/** A tool's input, field by field, as schemas of zod 4 or 3. */
export type AnyZodRawShape = ZodRawShapeCompat
export type InferShape<Shape extends AnyZodRawShape> = ShapeOutput<Shape>

/** A tool of a server in this process. */
export interface SdkMcpToolDefinition<Shape extends AnyZodRawShape = AnyZodRawShape> {
  name: string
  description: string
  inputSchema: Shape
  // A method, so that tools of different shapes go into one list: each is called with arguments of its own shape only.
  handler(args: InferShape<Shape>, extra: unknown): Promise<CallToolResult>
  annotations?: ToolAnnotations | undefined
  _meta?: Record<string, unknown> | undefined
}

export interface ToolExtras {
  annotations?: ToolAnnotations
  /** Words that the agent finds the tool by while its description is not loaded. */
  searchHint?: string
  /** Keeps the tool's description loaded, where the agent would look it up only when needed. */
  alwaysLoad?: boolean
}

/** The names under which the CLI looks for them in a tool's `_meta`. */
export const ALWAYS_LOAD = "anthropic/alwaysLoad"
const SEARCH_HINT = "anthropic/searchHint"

export function tool<Shape extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: Shape,
  handler: (args: InferShape<Shape>, extra: unknown) => Promise<CallToolResult>,
  extras?: ToolExtras,
): SdkMcpToolDefinition<Shape> {
  const meta = {
    ...(extras?.searchHint ? { [SEARCH_HINT]: extras.searchHint } : {}),
    ...(extras?.alwaysLoad ? { [ALWAYS_LOAD]: true } : {}),
  }
  const told = Object.keys(meta).length > 0 ? meta : undefined
  return { name, description, inputSchema, handler, annotations: extras?.annotations, _meta: told }
}

export interface CreateSdkMcpServerOptions {
  name: string
  /** Default: 1.0.0 */
  version?: string
  tools?: readonly SdkMcpToolDefinition[]
  /** The server's description for the model. */
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
  const instance = new Server({ name, version }, { capabilities, ...defined({ instructions }) })
  for (const tool of tools ?? []) register(instance, tool, alwaysLoad === true)
  // A value that is no time at all is no limit.
  return { type: "sdk", name, instance, ...(Number.isFinite(timeout) && Number(timeout) > 0 ? { timeout } : {}) }
}

function register(server: McpServer, definition: SdkMcpToolDefinition, isLoaded: boolean): void {
  const { name, description, inputSchema, annotations, _meta } = definition
  const meta = isLoaded || _meta !== undefined ? { ...(isLoaded ? { [ALWAYS_LOAD]: true } : {}), ..._meta } : undefined
  const told = { description, inputSchema, ...defined({ annotations, _meta: meta }) }
  server.registerTool(name, told, (args, extra) => definition.handler(args, extra))
}

/** A server of this program. One that is only named so, without the server itself, is whatever the agent makes of it. */
export function isInProcess(config: McpServerConfig): config is McpSdkServerConfigWithInstance {
  return config.type === "sdk" && isObject(config.instance)
}
