import { aborted, type SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
import { isInProcess } from "../mcp/sdk-mcp-server.ts"
import type { Options } from "../types/options.ts"
import { settingsIn } from "./flags.ts"
import { bad, optionsWith, wrongKindProblem } from "./option-kinds.ts"

type Rule = readonly [option: string, isWrong: (options: Options) => boolean, message: string]

/** Options that can never work are refused before anything is started, in the official package's words where it has some. */
const RULES: readonly Rule[] = [
  [
    "sessionStore",
    ({ sessionStore, persistSession }) => sessionStore !== undefined && persistSession === false,
    "sessionStore cannot be used with persistSession: false -- the storage adapter requires local writes to mirror from.",
  ],
  [
    "sessionStore",
    ({ sessionStore, enableFileCheckpointing }) => sessionStore !== undefined && enableFileCheckpointing === true,
    "enableFileCheckpointing is not yet supported with sessionStore",
  ],
  [
    "sessionStore",
    ({ sessionStore: store, continue: isContinued, resume }) =>
      isContinued === true && resume === undefined && store !== undefined && store.listSessions === undefined,
    "Options.continue with sessionStore requires store.listSessions to be implemented",
  ],
  [
    "canUseTool",
    ({ canUseTool, permissionPromptToolName: name }) => canUseTool !== undefined && name !== undefined,
    "canUseTool callback cannot be used with permissionPromptToolName. Please use one or the other.",
  ],
  [
    "fallbackModel",
    ({ model, fallbackModel }) => fallbackModel !== undefined && model === fallbackModel,
    "Fallback model cannot be the same as the main model. Please specify a different model for fallbackModel option.",
  ],
  [
    "supportedDialogKinds",
    ({ supportedDialogKinds: kinds = [], onUserDialog }) => kinds.length > 0 && onUserDialog === undefined,
    "supportedDialogKinds requires an onUserDialog callback -- declaring dialog kinds without a handler would park dialogs nothing can answer. Provide onUserDialog, or omit supportedDialogKinds.",
  ],
  [
    "sandbox",
    ({ sandbox, settings, extraArgs }) =>
      sandbox !== undefined && isNoObject(settings ?? extraArgs?.["settings"] ?? undefined),
    "Cannot use both a settings file path and the sandbox option. Include the sandbox configuration in your settings file instead.",
  ],
]

/** The first option that can never work, and why. */
function optionProblem(options: Options): SdkError | undefined {
  const onHub = hubOptionProblem(options)
  if (onHub !== undefined) return onHub
  const broken = RULES.find(([, isWrong]) => isWrong(options))
  if (broken !== undefined) return bad(broken[0], broken[2])
  const { plugins = [], pluginDelivery, controlTimeoutMs = 0, permissionTimeoutMs = 1 } = options
  const other = pluginDelivery === "initialize" ? undefined : plugins.find(({ type }) => type !== "local")
  if (other !== undefined) return bad("plugins", `Unsupported plugin type: ${other.type}`)
  if (!(controlTimeoutMs >= 0))
    return bad("controlTimeoutMs", `controlTimeoutMs must be a time in milliseconds, or 0, not ${controlTimeoutMs}`)
  if (permissionTimeoutMs > 0) return undefined
  return bad("permissionTimeoutMs", `permissionTimeoutMs must be a positive number, not ${permissionTimeoutMs}`)
}

/** Throws, synchronously, as the official package does. */
export function checkOptions(options: Options): void {
  const wrongKind = wrongKindProblem(options)
  if (wrongKind !== undefined) throw wrongKind
  if (options.abortController?.signal.aborted === true) throw aborted(options.abortController.signal.reason)
  const problem = optionProblem(options)
  if (problem !== undefined) throw problem
}

/** The agent never asks about these, which is seldom what the writer of a callback meant. */
export function warnOfShadowedTools({ canUseTool, allowedTools = [] }: Options): void {
  const bare = allowedTools.filter((rule) => !rule.includes("("))
  if (canUseTool === undefined || bare.length === 0) return
  process.emitWarning(
    `canUseTool will not be invoked for: ${bare.join(", ")}. Bare allowedTools entries auto-approve the whole tool before the callback is consulted. Leave them out to be asked.`,
    { code: "CLAUDE_SDK_CAN_USE_TOOL_SHADOWED" },
  )
}

const EMPTY_IS_NONE = optionsWith("text")

/** The options without those that say nothing, as the official package reads them: a program may compute what it passes. */
export function givenOptions(options: Options): Options {
  const given = { ...options }
  for (const [name, value] of Object.entries(given)) {
    const saysNothing =
      value === null ||
      (value === "" && EMPTY_IS_NONE.has(name)) ||
      // Zero and not-a-number both mean no limit of turns.
      (name === "maxTurns" && (value === 0 || Number.isNaN(value)))
    if (saysNothing) Reflect.deleteProperty(given, name)
  }
  return given
}

/** A file, or a text that is neither a file nor settings: a sandbox cannot be put in there. */
function isNoObject(settings: Options["settings"]): boolean {
  return settings !== undefined && settingsIn(settings) === undefined
}

const ANYWHERE = optionsWith("anywhere")
const OF_A_LAUNCH = optionsWith("launch")
/** Fields of a system prompt that no hub can be told. */
const OF_A_PROMPT = ["excludeDynamicSections", "snapshot"] as const

/** The first option that cannot be meant for an agent of a hub, as a refusal. */
export function hubOptionProblem(options: Options): SdkError | undefined {
  const { hub, mcpServers = {} } = options
  if (hub === undefined) return undefined
  if (hub.after !== undefined && !(Number.isSafeInteger(hub.after) && hub.after >= 0)) {
    return bad("hub", `hub.after is the seq of an event: 0, or a whole number above it, not ${String(hub.after)}`)
  }
  if (hub.patienceMs !== undefined && !(hub.patienceMs >= 0)) {
    return bad("hub", `hub.patienceMs is a time in milliseconds, not ${String(hub.patienceMs)}`)
  }
  const usable: ReadonlySet<string> = new Set(hub.session === undefined ? [...ANYWHERE, ...OF_A_LAUNCH] : ANYWHERE)
  const name = Object.entries(options).find(([key, value]) => value !== undefined && !usable.has(key))?.[0]
  if (name !== undefined) return bad(name, unusable(name, hub.session))
  const prompt: unknown = options.systemPrompt
  const part = OF_A_PROMPT.find((field) => isObject(prompt) && prompt[field] !== undefined)
  if (part !== undefined) return bad("systemPrompt", unusable(`systemPrompt.${part}`, hub.session))
  if (hub.session === undefined) return undefined
  const server = Object.entries(mcpServers).find(([, config]) => !isInProcess(config))?.[0]
  if (server === undefined) return undefined
  const advice = "only servers of this program can be brought along; call setMcpServers() for others"
  return bad("mcpServers", `the MCP server ${server} would run beside the agent: ${advice}`)
}

function unusable(name: string, session: string | undefined): string {
  if (session === undefined) return `options.${name} cannot be used with options.hub: a hub cannot be told it`
  return `options.${name} cannot be used with options.hub.session: that agent runs already; start it with what it needs`
}
