import { SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
import { isInProcess } from "../mcp/in-process.ts"
import type { Options } from "../types/options.ts"

type Name = keyof Options

/** What is the program's own, and works wherever the agent runs. */
const OURS: readonly Name[] = [
  "abortController",
  "canUseTool",
  "controlTimeoutMs",
  "hooks",
  "hub",
  "includeHookEvents",
  "includePartialMessages",
  "mcpServers",
  "model",
  "onElicitation",
  "onUserDialog",
  "permissionMode",
  "permissionTimeoutMs",
  "supportedDialogKinds",
  "verbatimPrompts",
]

/** What a hub can be told when it is to start an agent. */
const OF_A_LAUNCH: readonly Name[] = [
  "additionalDirectories",
  "agents",
  "allowedTools",
  "betas",
  "continue",
  "cwd",
  "disallowedTools",
  "effort",
  "forkSession",
  "maxBudgetUsd",
  "maxThinkingTokens",
  "maxTurns",
  "outputFormat",
  "resume",
  "settingSources",
  "systemPrompt",
  "thinking",
  "title",
]
/** Fields of a system prompt that no hub can be told. */
const OF_A_PROMPT = ["excludeDynamicSections", "snapshot"] as const

/** The first option that cannot be meant for an agent of a hub, as a refusal. */
export function hubOptionProblem(options: Options): SdkError | undefined {
  const { hub, mcpServers = {} } = options
  if (hub === undefined) return undefined
  if (hub.after !== undefined && !(Number.isSafeInteger(hub.after) && hub.after >= 0)) {
    return refused("hub", `hub.after is the seq of an event: 0, or a whole number above it, not ${String(hub.after)}`)
  }
  if (hub.patienceMs !== undefined && !(hub.patienceMs >= 0)) {
    return refused("hub", `hub.patienceMs is a time in milliseconds, not ${String(hub.patienceMs)}`)
  }
  const usable: ReadonlySet<string> = new Set(hub.session === undefined ? [...OURS, ...OF_A_LAUNCH] : OURS)
  const name = Object.entries(options).find(([key, value]) => value !== undefined && !usable.has(key))?.[0]
  if (name !== undefined) return refused(name, unusable(name, hub.session))
  const prompt: unknown = options.systemPrompt
  const part = OF_A_PROMPT.find((field) => isObject(prompt) && prompt[field] !== undefined)
  if (part !== undefined) return refused("systemPrompt", unusable(`systemPrompt.${part}`, hub.session))
  if (hub.session === undefined) return undefined
  const server = Object.entries(mcpServers).find(([, config]) => !isInProcess(config))?.[0]
  if (server === undefined) return undefined
  const advice = "only servers of this program can be brought along; call setMcpServers() for others"
  return refused("mcpServers", `the MCP server ${server} would run beside the agent: ${advice}`)
}

function unusable(name: string, session: string | undefined): string {
  if (session === undefined) return `options.${name} cannot be used with options.hub: a hub cannot be told it`
  return `options.${name} cannot be used with options.hub.session: that agent runs already; start it with what it needs`
}

function refused(option: string, message: string): SdkError {
  return new SdkError("sdk/bad-option", message, { details: { option } })
}
