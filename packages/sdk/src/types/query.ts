import type * as Wire from "@signalbox/protocol"
import type { AccountInfo, AgentInfo, ModelInfo, SDKControlInitializeResponse, SlashCommand } from "./catalog.ts"
import type { McpServerConfig, McpServerStatus, McpSetServersResult, ReadMcpResourceResult } from "./mcp.ts"
import type { SDKMessage, SDKUserMessage } from "./messages.ts"
import type { ControlRequestBody, HubCursor, SdkPluginConfig, ThinkingDisplay } from "./options.ts"
import type { AnyPermissionMode } from "./permissions.ts"
import type { Published, With } from "./published.ts"
import type { FlagSettings } from "./settings.ts"
import type { SDKControlGetContextUsageResponse, SDKControlGetUsageResponse } from "./usage.ts"

export type * from "./catalog.ts"
export type * from "./usage.ts"

export type RewindFilesResult = Published<Wire.RewindFilesReply>
export type SDKControlReadFileResponse = With<Published<Wire.ReadFileReply>, { encoding?: "base64" }>
export type SDKControlReloadPluginsResponse = With<
  Published<Wire.ReloadPluginsReply>,
  {
    commands: SlashCommand[]
    plugins: { name: string; path: string; source?: string; version?: string }[]
    mcpServers: McpServerStatus[]
    held?: boolean
    cache_impact?: CacheImpact
  }
>
interface CacheImpact {
  mcp_servers_added: string[]
  mcp_servers_removed: string[]
  lsp_tool_change: "adds" | "may-add" | "removes" | "may-remove" | null
}
export type SDKControlReloadSkillsResponse = { skills: SlashCommand[] }
export type SDKControlReloadOutputStylesResponse = Published<Wire.ReloadOutputStylesReply>
export type SDKControlInterruptResponse = { still_queued: string[]; cancelled?: string[] }

/** A running query: its messages, and what can be asked of its agent meanwhile. */
export interface Query extends AsyncGenerator<SDKMessage, void> {
  interrupt(options?: { cancelQueued?: boolean }): Promise<SDKControlInterruptResponse | undefined>
  setPermissionMode(mode: AnyPermissionMode): Promise<void>
  setModel(model?: string | null): Promise<void>
  setMaxThinkingTokens(maxThinkingTokens: number | null, display?: ThinkingDisplay | null): Promise<void>
  setMcpPermissionModeOverride(serverName: string, mode: "default" | "auto" | null): Promise<{ warning?: string }>
  applyFlagSettings(settings: FlagSettings): Promise<void>
  updateSettings(source: "localSettings" | "userSettings", settings: Record<string, unknown>): Promise<void>
  initializationResult(): Promise<SDKControlInitializeResponse>
  reinitialize(): Promise<SDKControlInitializeResponse>
  supportedCommands(): Promise<SlashCommand[]>
  supportedModels(): Promise<ModelInfo[]>
  supportedAgents(): Promise<AgentInfo[]>
  accountInfo(): Promise<AccountInfo>
  mcpServerStatus(): Promise<McpServerStatus[]>
  getContextUsage(options?: { detail?: "summary" | "full" }): Promise<SDKControlGetContextUsageResponse>
  usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET(options?: {
    skipBehaviors?: boolean
  }): Promise<SDKControlGetUsageResponse>
  readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: "utf-8" | "base64" },
  ): Promise<SDKControlReadFileResponse | null>
  reloadPlugins(options?: {
    holdOnCacheImpact?: boolean
    refuseIfBusy?: boolean
    addPlugins?: SdkPluginConfig[]
  }): Promise<SDKControlReloadPluginsResponse>
  reloadSkills(): Promise<SDKControlReloadSkillsResponse>
  reloadOutputStyles(): Promise<SDKControlReloadOutputStylesResponse>
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>
  seedReadState(path: string, mtime: number): Promise<void>
  reconnectMcpServer(serverName: string): Promise<void>
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult>
  readMcpResource(serverName: string, uri: string): Promise<ReadMcpResourceResult>
  streamInput(stream: AsyncIterable<SDKUserMessage>): Promise<void>
  stopTask(taskId: string): Promise<void>
  backgroundTasks(toolUseId?: string): Promise<boolean>
  close(): void
  /** Ours: any control request, for what has no method yet. Resolves with the agent's payload. */
  control(request: ControlRequestBody): Promise<unknown>
  /** Ours: with `options.hub`, what was read so far. Undefined until attached, and without a hub. */
  readonly hubCursor: HubCursor | undefined
  [Symbol.asyncDispose](): Promise<void>
}

/** A process that has started and waits for its prompt. */
export interface WarmQuery {
  query(prompt: string | AsyncIterable<SDKUserMessage>): Query
  close(): void
  [Symbol.asyncDispose](): Promise<void>
}
