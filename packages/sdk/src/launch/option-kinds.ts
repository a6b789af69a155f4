import { SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
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

const LISTS = [
  "additionalDirectories",
  "allowedTools",
  "betas",
  "disallowedTools",
  "executableArgs",
  "plugins",
  "settingSources",
  "supportedDialogKinds",
] as const satisfies readonly (keyof Options)[]

const NUMBERS = ["maxTurns", "maxBudgetUsd", "maxThinkingTokens"] as const satisfies readonly (keyof Options)[]

const FLAG_NAME = /^[A-Za-z][\w-]*$/

/** What a program without types may get wrong, told by the option's name and not by what stumbles over it. */
export function wrongKindProblem(options: Options): SdkError | undefined {
  const list = LISTS.find((name) => options[name] !== undefined && !Array.isArray(options[name]))
  if (list !== undefined) return wrong(list, `${list} is a list, not ${shown(options[list])}`)
  const number = NUMBERS.find((name) => options[name] !== undefined && isNoNumber(options[name]))
  if (number !== undefined) return wrong(number, `${number} is a number, not ${shown(options[number])}`)
  const flag = Object.keys(options.extraArgs ?? {}).find((name) => !FLAG_NAME.test(name))
  if (flag !== undefined) {
    return wrong(
      "extraArgs",
      `extraArgs has ${shown(flag)}, which is not the name of a flag: give it without its dashes`,
    )
  }
  const event = Object.entries(options.hooks ?? {}).find(([, matchers]) => !isHookList(matchers ?? []))?.[0]
  if (event !== undefined) return wrong("hooks", `hooks.${event} is a list, in which each has a list of hooks`)
  const server = Object.entries(options.mcpServers ?? {}).find(([, config]) => !isObject(config))?.[0]
  if (server !== undefined) return wrong("mcpServers", `mcpServers.${server} is no configuration of a server`)
  const controller: unknown = options.abortController
  if (controller !== undefined && !isController(controller)) {
    return wrong("abortController", "abortController is an AbortController, whose signal can be listened to")
  }
  return undefined
}

function isHookList(matchers: unknown): boolean {
  return Array.isArray(matchers) && matchers.every((matcher) => isObject(matcher) && Array.isArray(matcher["hooks"]))
}

/** Any that works as one: a program may bring its own. */
function isController(value: unknown): boolean {
  if (!isObject(value)) return false
  const { signal } = value
  return isObject(signal) && typeof signal["addEventListener"] === "function"
}

function isNoNumber(value: unknown): boolean {
  return Number.isNaN(Number(value))
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

function wrong(option: string, message: string): SdkError {
  return new SdkError("sdk/bad-option", message, { details: { option } })
}
