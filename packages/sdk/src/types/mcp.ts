import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import type * as Wire from "@signalbox/protocol"
import type { Published, With } from "./published.ts"

interface OfOutsideServer {
  /** How long a call may take, in milliseconds; the agent is told. */
  timeout?: number
  /** Keeps the descriptions of all its tools loaded. */
  alwaysLoad?: boolean
}

export interface McpStdioServerConfig extends OfOutsideServer {
  type?: "stdio"
  args?: string[]
  command: string
  env?: Record<string, string>
}

interface McpUrlServerConfig extends OfOutsideServer {
  url: string
  headers?: Record<string, string>
  tools?: McpServerToolPolicy[]
}

export interface McpSSEServerConfig extends McpUrlServerConfig {
  type: "sse"
}

export interface McpHttpServerConfig extends McpUrlServerConfig {
  type: "http"
}

/** The agent's treatment of a tool of a server, whatever its rules say. */
export interface McpServerToolPolicy {
  name: string
  permission_policy?: "always_allow" | "always_ask" | "always_deny"
  org_max_permission?: "allow" | "ask" | "blocked"
}

export interface McpSdkServerConfig {
  type: "sdk"
  name: string
  /** How long a call may take, in milliseconds; the agent is told. */
  timeout?: number
  tools?: McpServerToolPolicy[]
}

/** A server in this process: anything that can be connected to a transport of the Model Context Protocol. */
export interface McpServerInstance {
  // The transport is typed by whoever made the server; ours has every member that the protocol's own interface asks for.
  connect(transport: never): Promise<void>
  close?(): Promise<void>
}

export interface McpSdkServerConfigWithInstance extends McpSdkServerConfig {
  instance: McpServer
}

/** A server that is none of the library's own class, or of another copy of it. */
export interface McpSdkServerConfigWithOwnInstance extends McpSdkServerConfig {
  instance: McpServerInstance
}

export type McpServerConfig =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfigWithInstance
  | McpSdkServerConfigWithOwnInstance

/** The part that can be told to another process. */
export type McpServerConfigForProcessTransport =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfig

export interface McpClaudeAIProxyServerConfig {
  type: "claudeai-proxy"
  id: string
  timeout?: number
  url: string
}
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig

export type McpServerStatus = With<
  Published<Wire.McpServerStatus>,
  {
    serverInfo?: { name: string; version: string }
    config?: McpServerStatusConfig
    tools?: McpToolStatus[]
  }
>
interface McpToolStatus {
  name: string
  description?: string
  annotations?: { readOnly?: boolean; destructive?: boolean; openWorld?: boolean }
  _meta?: Record<string, unknown>
}
export type McpSetServersResult = { added: string[]; removed: string[]; errors: Record<string, string> }
export type ReadMcpResourceResult = Published<Wire.ControlReplyOf<"mcp_read_resource">>

/** A server for a sub-agent: one that is configured already, by its name, or another. */
export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>
