import type * as Wire from "@signalbox/protocol"
import type { Published } from "./published.ts"

export interface McpStdioServerConfig {
  type?: "stdio"
  command: string
  args?: string[]
  env?: Record<string, string>
}

export interface McpSSEServerConfig {
  type: "sse"
  url: string
  headers?: Record<string, string>
}

export interface McpHttpServerConfig {
  type: "http"
  url: string
  headers?: Record<string, string>
}

/** What the agent is to do about a tool of a server, whatever its rules say. */
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
  instance: McpServerInstance
}

export type McpServerConfig =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfigWithInstance

/** What can be told to another process. */
export type McpServerConfigForProcessTransport =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfig

export type McpServerStatus = Published<Wire.McpServerStatus>
export type McpSetServersResult = { added: string[]; removed: string[]; errors: Record<string, string> }
export type ReadMcpResourceResult = Published<Wire.McpReadResourceReply>
