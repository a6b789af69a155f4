import type { Readable, Writable } from "node:stream"
import type * as Wire from "@signalbox/protocol"
import type { HookCallbackMatcher, HookEvent } from "./hooks.ts"
import type { AgentMcpServerSpec, McpServerConfig } from "./mcp.ts"
import type { AnyPermissionMode, CanUseTool, OnElicitation, OnUserDialog, PermissionMode } from "./permissions.ts"
import type { SessionStore } from "./session-store.ts"
import type { SandboxSettings, Settings } from "./settings.ts"

export type SdkBeta = "context-1m-2025-08-07" | (string & {})
export type SettingSource = "user" | "project" | "local"
export type EffortLevel = "low" | "medium" | "high" | "xhigh" | "max"
export interface SdkPluginConfig {
  type: "local"
  path: string
  skipMcpDiscovery?: boolean
}

export type ThinkingDisplay = "summarized" | "omitted" | "highlights"
export type ThinkingConfig =
  | { type: "adaptive"; display?: ThinkingDisplay }
  | { type: "enabled"; budgetTokens?: number; display?: ThinkingDisplay }
  | { type: "disabled" }

export type SystemPromptPreset = {
  type: "preset"
  preset: "claude_code"
  append?: string
  excludeDynamicSections?: boolean
  snapshot?: boolean
}

export interface SystemPromptCustom {
  type: "custom"
  prompt: string | string[]
  snapshot?: boolean
}

export type JsonSchemaOutputFormat = { type: "json_schema"; schema: Record<string, unknown> }
export type OutputFormat = JsonSchemaOutputFormat

/** A sub-agent the program defines. */
export interface AgentDefinition {
  description: string
  prompt: string
  tools?: string[]
  disallowedTools?: string[]
  model?: string
  mcpServers?: AgentMcpServerSpec[]
  skills?: string[]
  maxTurns?: number
  background?: boolean
  effort?: EffortLevel | number
  permissionMode?: PermissionMode
  initialPrompt?: string
  memory?: "user" | "project" | "local"
  omitClaudeMd?: boolean
  autoCompactWindow?: number
  observer?: string
  observerMessage?: string
  criticalSystemReminder_EXPERIMENTAL?: string
}

/** How far a program has read a hub's session. Given with `hub`, it goes on from there. */
export interface HubCursor {
  session: string
  /** The `seq` of the last event that was read. */
  after: number
}

/** Where a hub's agent is reached. The query attaches to it and detaches at its end; the agent lives on. */
export interface HubOptions {
  /** `http://127.0.0.1:8765`. Of several hubs on one store, all addresses: a list, or with commas between them. */
  url: string | readonly string[]
  token: string
  /** An existing session; without it the hub starts an agent. */
  session?: string | undefined
  /** The last event already seen: what follows it is yielded first. 0 is all there is; without it, from now on. */
  after?: number | undefined
  /** How long a hub that went away is waited for; 10 minutes if left out, as agents do. */
  patienceMs?: number | undefined
}

/** The official package's options, by its names, and ours at the end. `docs/sdk.md` says where each one goes. */
export interface Options {
  abortController?: AbortController | undefined
  additionalDirectories?: string[] | undefined
  agent?: string | undefined
  agentProgressSummaries?: boolean | undefined
  agents?: Record<string, AgentDefinition> | undefined
  allowDangerouslySkipPermissions?: boolean | undefined
  allowedTools?: string[] | undefined
  betas?: SdkBeta[] | undefined
  canUseTool?: CanUseTool | undefined
  continue?: boolean | undefined
  cwd?: string | undefined
  debug?: boolean | undefined
  debugFile?: string | undefined
  disallowedTools?: string[] | undefined
  effort?: EffortLevel | undefined
  enableFileCheckpointing?: boolean | undefined
  /** The whole environment of the agent, not an addition to ours. */
  env?: { [name: string]: string | undefined } | undefined
  /** The program that runs a script given as `pathToClaudeCodeExecutable`. */
  executable?: "bun" | "deno" | "node" | undefined
  executableArgs?: string[] | undefined
  extraArgs?: Record<string, string | null> | undefined
  fallbackModel?: string | undefined
  forkSession?: boolean | undefined
  forwardSubagentText?: boolean | undefined
  hooks?: Partial<Record<HookEvent, HookCallbackMatcher[]>> | undefined
  includeHookEvents?: boolean | undefined
  includePartialMessages?: boolean | undefined
  loadTimeoutMs?: number | undefined
  managedSettings?: Settings | undefined
  maxBudgetUsd?: number | undefined
  /** 0 is off; `thinking` says it better. */
  maxThinkingTokens?: number | undefined
  maxTurns?: number | undefined
  mcpServers?: Record<string, McpServerConfig> | undefined
  model?: string | undefined
  onElicitation?: OnElicitation | undefined
  onUserDialog?: OnUserDialog | undefined
  outputFormat?: OutputFormat | undefined
  pathToClaudeCodeExecutable?: string | undefined
  perTaskStopAffordance?: boolean | undefined
  permissionMode?: AnyPermissionMode | undefined
  permissionPromptToolName?: string | undefined
  permissionPrompts?: "host" | "none" | undefined
  persistSession?: boolean | undefined
  planModeInstructions?: string | undefined
  pluginDelivery?: "argv" | "initialize" | undefined
  plugins?: SdkPluginConfig[] | undefined
  projectConfigRoot?: string | undefined
  promptSuggestions?: boolean | undefined
  resume?: string | undefined
  /** The id of the message whose turn is dropped. */
  resumeDropsTurn?: string | undefined
  resumeSessionAt?: string | undefined
  sandbox?: SandboxSettings | undefined
  sessionId?: string | undefined
  sessionStore?: SessionStore | undefined
  sessionStoreFlush?: "batched" | "eager" | undefined
  settingSources?: SettingSource[] | undefined
  /** An object, or the path of a file. */
  settings?: string | Settings | undefined
  skills?: string[] | "all" | undefined
  spawnClaudeCodeProcess?: ((options: SpawnOptions) => SpawnedProcess) | undefined
  stderr?: ((data: string) => void) | undefined
  strictMcpConfig?: boolean | undefined
  supportedDialogKinds?: string[] | undefined
  systemPrompt?: string | string[] | SystemPromptCustom | SystemPromptPreset | undefined
  taskBudget?: { total: number } | undefined
  thinking?: ThinkingConfig | undefined
  title?: string | undefined
  toolAliases?: Record<string, string> | undefined
  toolConfig?: { askUserQuestion?: { previewFormat?: "markdown" | "html" } } | undefined
  tools?: string[] | { type: "preset"; preset: "claude_code" } | undefined
  verbatimPrompts?: boolean | undefined

  /**
   * Ours: how long the agent has to answer a request (`setModel()`, `control()`, …), 60,000 if left out. Requests that the
   * agent passes on to a model or a server have ten times as long. 0 is no limit, as in the official package.
   */
  controlTimeoutMs?: number | undefined
  /** Ours: runs the query on a hub's agent instead of a process here. */
  hub?: HubOptions | undefined
  /** Ours: a permission that nobody decides within this time is denied, and says so. Off unless given. */
  permissionTimeoutMs?: number | undefined
}

/** A request of any subtype, for `Query.control`. */
export type ControlRequestBody = { subtype: string } & Record<string, unknown>
export type InitializeReply = Wire.InitializeReply

/** The argument of `spawnClaudeCodeProcess`. */
export interface SpawnOptions {
  args: string[]
  command: string
  cwd?: string | undefined
  env: { [name: string]: string | undefined }
  signal: AbortSignal
}

/** Its result: Node's own ChildProcess is one, and so is whatever plays one from elsewhere. */
export interface SpawnedProcess {
  readonly exitCode: number | null
  kill(signal: NodeJS.Signals): boolean
  readonly killed: boolean
  off(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  off(event: "error", listener: (error: Error) => void): void
  on(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  on(event: "error", listener: (error: Error) => void): void
  once(event: "exit", listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  once(event: "error", listener: (error: Error) => void): void
  readonly signalCode?: NodeJS.Signals | null
  stdin: Writable
  stdout: Readable
}
