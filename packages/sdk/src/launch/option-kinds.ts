import { SdkError } from "../base/errors.ts"
import { fieldOf, isObject } from "../base/wire.ts"
import type { Options } from "../types/options.ts"

/**
 * The table has all that this package knows of each option. Its type makes the table complete: an option without a row does not compile.
 *
 * Where it goes:
 * - `flag`: the command line; `launch/flags.ts`
 * - `environment`: the agent's environment; `launch/executable.ts`
 * - `initialize`: the first request; `launch/initialize.ts`
 * - `process`: how the process is started and ended; `launch/open-agent.ts`
 * - `call`: how the program's requests to the agent are made; `engine/control-calls.ts`
 * - `callback`: called when the agent asks; `engine/`
 * - `prompt`: a field of every prompt
 * - `store`: says how the session store is used, and is ignored without one, as the official package does
 * - `hub`: where the agent is; `hub/`
 *
 * Which kind of value it has:
 * - `list`, `number`: checked, since a program without types may get it wrong
 * - `text`: means nothing when it is empty. For other options an empty text is an answer
 * - `reference`: the program's own, called or listened to, so a copy would be another object. (`cwd` may be a URL.)
 *
 * Whether it works with an agent of a hub; without either word, it is refused:
 * - `anywhere`: the program's own business, wherever the agent runs
 * - `launch`: a hub can be told when it starts the agent
 */
type Fact =
  | "flag"
  | "environment"
  | "initialize"
  | "process"
  | "call"
  | "callback"
  | "prompt"
  | "store"
  | "hub"
  | "list"
  | "number"
  | "text"
  | "reference"
  | "anywhere"
  | "launch"
type OptionName = keyof Options

export const OPTION_TABLE: Readonly<Record<OptionName, readonly Fact[]>> = {
  abortController: ["process", "reference", "anywhere"],
  additionalDirectories: ["flag", "list", "launch"],
  agent: ["flag", "text"],
  agentProgressSummaries: ["initialize"],
  agents: ["initialize", "launch"],
  allowDangerouslySkipPermissions: ["flag"],
  allowedTools: ["flag", "list", "launch"],
  betas: ["flag", "list", "launch"],
  canUseTool: ["flag", "callback", "reference", "anywhere"],
  continue: ["flag", "launch"],
  controlTimeoutMs: ["call", "anywhere"],
  cwd: ["process", "reference", "launch"],
  debug: ["flag"],
  debugFile: ["flag", "text"],
  disallowedTools: ["flag", "list", "launch"],
  effort: ["flag", "text", "launch"],
  enableFileCheckpointing: ["environment"],
  env: ["environment"],
  executable: ["process"],
  executableArgs: ["process", "list"],
  extraArgs: ["flag"],
  fallbackModel: ["flag", "text"],
  forkSession: ["flag", "launch"],
  forwardSubagentText: ["initialize"],
  hooks: ["initialize", "callback", "anywhere"],
  hub: ["hub", "anywhere"],
  includeHookEvents: ["flag", "anywhere"],
  includePartialMessages: ["flag", "anywhere"],
  loadTimeoutMs: ["store"],
  managedSettings: ["flag"],
  maxBudgetUsd: ["flag", "number", "launch"],
  maxThinkingTokens: ["flag", "number", "launch"],
  maxTurns: ["flag", "number", "launch"],
  mcpServers: ["flag", "initialize", "callback", "anywhere"],
  model: ["flag", "text", "anywhere"],
  onElicitation: ["callback", "reference", "anywhere"],
  onUserDialog: ["callback", "reference", "anywhere"],
  outputFormat: ["flag", "initialize", "launch"],
  pathToClaudeCodeExecutable: ["process", "text"],
  perTaskStopAffordance: ["initialize"],
  permissionMode: ["flag", "text", "anywhere"],
  permissionPromptToolName: ["flag", "text"],
  permissionPrompts: ["flag", "text"],
  permissionTimeoutMs: ["callback", "anywhere"],
  persistSession: ["flag"],
  planModeInstructions: ["initialize"],
  pluginDelivery: ["flag", "initialize"],
  plugins: ["flag", "initialize", "list"],
  projectConfigRoot: ["flag"],
  promptSuggestions: ["initialize"],
  resume: ["flag", "text", "launch"],
  resumeDropsTurn: ["flag"],
  resumeSessionAt: ["flag", "text"],
  sandbox: ["flag"],
  sessionId: ["flag", "text"],
  sessionStore: ["flag", "store", "reference"],
  sessionStoreFlush: ["store"],
  settingSources: ["flag", "list", "launch"],
  settings: ["flag", "text"],
  skills: ["flag", "initialize"],
  spawnClaudeCodeProcess: ["process", "reference"],
  stderr: ["process", "reference"],
  strictMcpConfig: ["flag"],
  supportedDialogKinds: ["initialize", "list", "anywhere"],
  systemPrompt: ["initialize", "launch"],
  taskBudget: ["flag"],
  thinking: ["flag", "launch"],
  title: ["initialize", "launch"],
  toolAliases: ["initialize"],
  toolConfig: ["environment"],
  tools: ["flag"],
  verbatimPrompts: ["prompt", "anywhere"],
}

/** The names of the options that have this fact in the table. */
export function optionsWith(fact: Fact): ReadonlySet<string> {
  return new Set(Object.entries(OPTION_TABLE).flatMap(([name, facts]) => (facts.includes(fact) ? [name] : [])))
}

const LISTS = optionsWith("list")
const NUMBERS = optionsWith("number")
const FLAG_NAME = /^[A-Za-z][\w-]*$/

/** A program without types may give a wrong kind: it is told by the option's name and not by what stumbles over it. */
export function wrongKindProblem(options: Options): SdkError | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (LISTS.has(name) && !Array.isArray(value)) return bad(name, `${name} is a list, not ${shown(value)}`)
    if (NUMBERS.has(name) && Number.isNaN(Number(value))) return bad(name, `${name} is a number, not ${shown(value)}`)
  }
  const flag = Object.keys(options.extraArgs ?? {}).find((name) => !FLAG_NAME.test(name))
  if (flag !== undefined) {
    return bad("extraArgs", `extraArgs has ${shown(flag)}, which is not the name of a flag: give it without its dashes`)
  }
  const isHook = (matcher: unknown) => isObject(matcher) && Array.isArray(matcher["hooks"])
  const isHookList = (matchers: unknown) => Array.isArray(matchers) && matchers.every(isHook)
  const event = Object.entries(options.hooks ?? {}).find(([, matchers]) => !isHookList(matchers ?? []))?.[0]
  if (event !== undefined) return bad("hooks", `hooks.${event} is a list, in which each has a list of hooks`)
  const server = Object.entries(options.mcpServers ?? {}).find(([, config]) => !isObject(config))?.[0]
  if (server !== undefined) return bad("mcpServers", `mcpServers.${server} is no configuration of a server`)
  // Any that works as one: a program may bring its own.
  const controller: unknown = options.abortController
  const listens = fieldOf(controller, "signal")?.["addEventListener"]
  if (controller !== undefined && typeof listens !== "function") {
    return bad("abortController", "abortController is an AbortController, whose signal can be listened to")
  }
  return undefined
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

export function bad(option: string, message: string): SdkError {
  return new SdkError("sdk/bad-option", message, { details: { option } })
}
