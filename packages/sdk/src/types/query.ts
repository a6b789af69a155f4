import type * as Wire from "@signalbox/protocol"
import type { McpServerConfig, McpServerStatus, McpSetServersResult, ReadMcpResourceResult } from "./mcp.ts"
import type { FastMode } from "./message-parts.ts"
import type { SDKMessage, SDKUserMessage } from "./messages.ts"
import type { AgentDefinition, ControlRequestBody, HubCursor, SdkPluginConfig, ThinkingDisplay } from "./options.ts"
import type { AnyPermissionMode, PermissionMode } from "./permissions.ts"
import type { Published, With } from "./published.ts"
import type { FlagSettings } from "./settings.ts"
import type { SDKControlGetContextUsageResponse, SDKControlGetUsageResponse } from "./usage.ts"

export type * from "./usage.ts"

export type RewindFilesResult = Published<Wire.ControlReplyOf<"rewind_files">>
export type SDKControlReadFileResponse = With<Published<Wire.ControlReplyOf<"read_file">>, { encoding?: "base64" }>
export type SDKControlReloadPluginsResponse = With<
  Published<Wire.ControlReplyOf<"reload_plugins">>,
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
export type SDKControlReloadOutputStylesResponse = Published<Wire.ControlReplyOf<"reload_output_styles">>
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

// An agent's own offer.

export type SlashCommand = With<Published<Wire.SlashCommand>, { argumentHint: string }>
export type ModelInfo = With<Published<Wire.ModelInfo>, { description: string }>
export type AccountInfo = Published<Wire.AccountInfo>
export type AgentInfo = Published<Wire.AgentInfo>

type Parked = "parked" | "already_connected" | "protocol_version_mismatch" | "malformed" | "not_honoured"
interface OfInitialize extends FastMode {
  commands: SlashCommand[]
  models: ModelInfo[]
  agents: AgentInfo[]
  hooks_applied?: boolean
  hook_on_failure_supported?: boolean
  plugins_applied?: boolean
  sdk_mcp_manifests_parked?: Record<string, Parked>
}
export type SDKControlInitializeResponse = With<Published<Wire.InitializeReply>, OfInitialize>

/** The options that a process that was started ahead can still be told when it becomes a session. */
export interface ClaimOptions {
  additionalDirectories?: string[]
  agents?: Record<string, AgentDefinition>
  appendSystemPrompt?: string
  cwd: string
  /** The few variables of the agent's environment that it takes at this point. */
  env?: Record<string, string>
  maxThinkingTokens?: number | null
  model?: string
  permissionMode?: PermissionMode
  /** As `applyFlagSettings`. The prompt waits until they are accepted. Not those about hooks. */
  settings?: FlagSettings
  title?: string
}

export interface ClaimedSession {
  cwd: string
  sessionId: string
  parkedMs?: number
  sdkMcpSettled: boolean
}

/** A process that has started and is no session yet. For one. */
export interface SpareProcess {
  claim(params: { prompt: string | AsyncIterable<SDKUserMessage>; options: ClaimOptions }): Query
  /** Rejects if it cannot become the session; start it with `query()` then, unless the text begins with `option_not_applied`. */
  readonly claimed: Promise<ClaimedSession>
  close(): void
  /** Resolves when the process is gone, claimed or not. */
  readonly exited: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
