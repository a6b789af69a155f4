import type * as Wire from "@signalbox/protocol"
import type { McpServerConfig, McpServerStatus, McpSetServersResult, ReadMcpResourceResult } from "./mcp.ts"
import type { SDKMessage, SDKUserMessage } from "./messages.ts"
import type { ControlRequestBody, HubCursor, Settings, ThinkingDisplay } from "./options.ts"
import type { PermissionMode } from "./permissions.ts"
import type { Published } from "./published.ts"

export type SlashCommand = Published<Wire.SlashCommand> & { argumentHint: string }
export type ModelInfo = Published<Wire.ModelInfo> & { description: string }
export type AccountInfo = Published<Wire.AccountInfo>
export type AgentInfo = Published<Wire.AgentInfo>
export type RewindFilesResult = Published<Wire.RewindFilesReply>
export type SDKControlInitializeResponse = Omit<Published<Wire.InitializeReply>, "commands" | "models" | "agents"> & {
  commands: SlashCommand[]
  models: ModelInfo[]
  agents: AgentInfo[]
}
export type SDKControlGetContextUsageResponse = Published<Wire.GetContextUsageReply>
export type SDKControlGetUsageResponse = Published<Wire.GetUsageReply>
export type SDKControlReadFileResponse = Published<Wire.ReadFileReply>
export type SDKControlReloadPluginsResponse = Published<Wire.ReloadPluginsReply>
export type SDKControlReloadSkillsResponse = Published<Wire.ReloadSkillsReply>
export type SDKControlReloadOutputStylesResponse = Published<Wire.ReloadOutputStylesReply>
export type SDKControlInterruptResponse = { still_queued: string[]; cancelled?: string[] }

/** A running query: its messages, and what can be asked of its agent meanwhile. */
export interface Query extends AsyncGenerator<SDKMessage, void> {
  interrupt(options?: { cancelQueued?: boolean }): Promise<SDKControlInterruptResponse | undefined>
  setPermissionMode(mode: PermissionMode): Promise<void>
  setModel(model?: string | null): Promise<void>
  setMaxThinkingTokens(maxThinkingTokens: number | null, display?: ThinkingDisplay | null): Promise<void>
  setMcpPermissionModeOverride(serverName: string, mode: PermissionMode | null): Promise<Record<string, unknown>>
  applyFlagSettings(settings: Settings): Promise<void>
  updateSettings(source: "localSettings" | "userSettings", settings: Settings): Promise<void>
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
    addPlugins?: unknown[]
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
