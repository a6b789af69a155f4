import type { Options } from "../types/options.ts"

/**
 * Where each option goes. The type makes the table complete: an option that is in no list here does not compile.
 *
 * - `flag`: the command line; `launch/flags.ts`
 * - `environment`: the agent's environment; `launch/environment.ts`
 * - `initialize`: the first request; `launch/initialize.ts`
 * - `process`: how the process is started and ended; `launch/open-agent.ts`
 * - `call`: how the program's requests to the agent are made; `engine/control-calls.ts`
 * - `callback`: called when the agent asks; `engine/`
 * - `prompt`: a field of every prompt
 * - `store`: says how the session store is used, and is ignored without one, as the official package does
 * - `hub`: where the agent is; `hub/`. Which other options can be meant for such an agent: `launch/hub-options.ts`
 */
export type Destination =
  | "flag"
  | "environment"
  | "initialize"
  | "process"
  | "call"
  | "callback"
  | "prompt"
  | "store"
  | "hub"

export const OPTION_TABLE = {
  abortController: ["process"],
  additionalDirectories: ["flag"],
  agent: ["flag"],
  agentProgressSummaries: ["initialize"],
  agents: ["initialize"],
  allowDangerouslySkipPermissions: ["flag"],
  allowedTools: ["flag"],
  betas: ["flag"],
  canUseTool: ["flag", "callback"],
  continue: ["flag"],
  controlTimeoutMs: ["call"],
  cwd: ["process"],
  debug: ["flag"],
  debugFile: ["flag"],
  disallowedTools: ["flag"],
  effort: ["flag"],
  enableFileCheckpointing: ["environment"],
  env: ["environment"],
  executable: ["process"],
  executableArgs: ["process"],
  extraArgs: ["flag"],
  fallbackModel: ["flag"],
  forkSession: ["flag"],
  forwardSubagentText: ["initialize"],
  hooks: ["initialize", "callback"],
  hub: ["hub"],
  includeHookEvents: ["flag"],
  includePartialMessages: ["flag"],
  loadTimeoutMs: ["store"],
  managedSettings: ["flag"],
  maxBudgetUsd: ["flag"],
  maxThinkingTokens: ["flag"],
  maxTurns: ["flag"],
  mcpServers: ["flag", "initialize", "callback"],
  model: ["flag"],
  onElicitation: ["callback"],
  onUserDialog: ["callback"],
  outputFormat: ["flag", "initialize"],
  pathToClaudeCodeExecutable: ["process"],
  perTaskStopAffordance: ["initialize"],
  permissionMode: ["flag"],
  permissionPromptToolName: ["flag"],
  permissionPrompts: ["flag"],
  permissionTimeoutMs: ["callback"],
  persistSession: ["flag"],
  planModeInstructions: ["initialize"],
  pluginDelivery: ["flag", "initialize"],
  plugins: ["flag", "initialize"],
  projectConfigRoot: ["flag"],
  promptSuggestions: ["initialize"],
  resume: ["flag"],
  resumeDropsTurn: ["flag"],
  resumeSessionAt: ["flag"],
  sandbox: ["flag"],
  sessionId: ["flag"],
  sessionStore: ["flag", "store"],
  sessionStoreFlush: ["store"],
  settingSources: ["flag"],
  settings: ["flag"],
  skills: ["flag", "initialize"],
  spawnClaudeCodeProcess: ["process"],
  stderr: ["process"],
  strictMcpConfig: ["flag"],
  supportedDialogKinds: ["initialize"],
  systemPrompt: ["initialize"],
  taskBudget: ["flag"],
  thinking: ["flag"],
  title: ["initialize"],
  toolAliases: ["initialize"],
  toolConfig: ["environment"],
  tools: ["flag"],
  verbatimPrompts: ["prompt"],
} as const satisfies Record<keyof Options, readonly Destination[]>
