import { claudeArguments } from "@signalbox/transport/claude-arguments"
import type { ClaudeFlags, Thinking } from "@signalbox/transport/process"
import { fieldOf, isObject } from "../base/wire.ts"
import { isInProcess } from "../mcp/sdk-mcp-server.ts"
import type { Options } from "../types/options.ts"

/** What the options ask of the command line; `arguments.ts` writes it. */
function flagsFor(options: Options): ClaudeFlags {
  const { extraArgs, settings, sandbox, plugins = [], pluginDelivery } = options
  const thinking = thinkingOf(options)
  const given = settings ?? extraArgs?.["settings"] ?? undefined
  return {
    model: options.model,
    fallbackModel: options.fallbackModel,
    agent: options.agent,
    maxTurns: numberOf(options.maxTurns),
    maxBudgetUsd: numberOf(options.maxBudgetUsd),
    thinking: thinking === undefined ? undefined : flagOf(thinking),
    thinkingDisplay: thinking === undefined || thinking.type === "disabled" ? undefined : thinking.display,
    effort: options.effort,
    taskBudget: options.taskBudget,
    betas: options.betas,
    jsonSchema: schemaOf(options),
    debug: options.debugFile === undefined ? options.debug : undefined,
    debugFile: options.debugFile,
    permissionPromptTool: options.canUseTool === undefined ? options.permissionPromptToolName : "stdio",
    permissionPrompts: options.permissionPrompts,
    permissionMode: options.permissionMode,
    allowDangerouslySkipPermissions: options.allowDangerouslySkipPermissions,
    continue: options.continue,
    resume: options.resume,
    forkSession: options.forkSession,
    resumeSessionAt: options.resumeSessionAt,
    resumeDropsTurn: options.resumeDropsTurn,
    sessionId: options.sessionId,
    persistSession: options.persistSession,
    allowedTools: [...(options.allowedTools ?? []), ...skillRules(options)],
    disallowedTools: options.disallowedTools,
    tools: toolsOf(options.tools),
    mcpConfig: mcpConfigOf(options.mcpServers),
    strictMcpConfig: options.strictMcpConfig,
    settingSources: options.settingSources,
    settings: given,
    sandbox: sandboxOf(sandbox, given),
    managedSettings: options.managedSettings,
    projectConfigRoot: options.projectConfigRoot,
    additionalDirectories: options.additionalDirectories,
    awaitInitialize: pluginDelivery === "initialize" && plugins.length > 0,
    includePartialMessages: options.includePartialMessages,
    includeHookEvents: options.includeHookEvents,
    sessionMirror: options.sessionStore !== undefined,
  }
}

/** A program without types may give it as a text; `check-options.ts` has refused what is no number. */
export function numberOf(value: unknown): number | undefined {
  return value === undefined ? undefined : Number(value)
}

type ThinkingOption = NonNullable<Options["thinking"]>

export function thinkingOf({ thinking, maxThinkingTokens }: Options): ThinkingOption | undefined {
  if (thinking !== undefined) return thinking
  if (maxThinkingTokens === undefined) return undefined
  return maxThinkingTokens === 0 ? { type: "disabled" } : { type: "enabled", budgetTokens: maxThinkingTokens }
}

function flagOf(thinking: ThinkingOption): Thinking {
  return thinking.type === "enabled"
    ? { type: "enabled", budgetTokens: thinking.budgetTokens }
    : { type: thinking.type }
}

export function schemaOf({ outputFormat }: Options): Record<string, unknown> | undefined {
  return outputFormat?.type === "json_schema" ? outputFormat.schema : undefined
}

/** Rules for the skills that the program has not allowed itself. */
function skillRules({ skills = [], allowedTools = [] }: Options): string[] {
  const rules = skills === "all" ? ["Skill"] : skills.map((skill) => `Skill(${skill})`)
  return rules.filter((rule) => !allowedTools.includes(rule))
}

function toolsOf(tools: Options["tools"]): ClaudeFlags["tools"] {
  if (tools === undefined || Array.isArray(tools)) return tools
  return { type: "preset", preset: "default" }
}

/** Servers in this process are no business of the command line: they are named in `initialize`. */
export function mcpConfigOf(servers: Options["mcpServers"]): Record<string, unknown> | undefined {
  const outside = Object.entries(servers ?? {}).filter(([, config]) => !isInProcess(config))
  return outside.length === 0 ? undefined : { mcpServers: Object.fromEntries(outside) }
}

/**
 * What the settings say of the sandbox holds where the option says nothing. One that was asked for and is not there must
 * not mean none: the official package says so, and so do we.
 */
function sandboxOf(sandbox: Options["sandbox"], settings: Options["settings"]): Options["sandbox"] {
  if (sandbox === undefined) return undefined
  const merged = { ...fieldOf(settingsIn(settings), "sandbox"), ...sandbox }
  return merged.enabled === true && merged.failIfUnavailable === undefined
    ? { ...merged, failIfUnavailable: true }
    : merged
}

/** Settings that were given as such and not as a file; undefined for that, and for what is no JSON. */
export function settingsIn(settings: Options["settings"]): unknown {
  if (typeof settings !== "string") return settings
  try {
    const value: unknown = JSON.parse(settings)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** In the official package's order: whoever starts the process for us sees these, and may have come to rely on it. */
const ORDER = [
  "thinking",
  "thinkingDisplay",
  "effort",
  "maxTurns",
  "maxBudgetUsd",
  "taskBudget",
  "model",
  "agent",
  "betas",
  "jsonSchema",
  "debugFile",
  "debug",
  "permissionPromptTool",
  "permissionPrompts",
  "continue",
  "resume",
  "allowedTools",
  "disallowedTools",
  "tools",
  "mcpConfig",
  "settingSources",
  "strictMcpConfig",
  "permissionMode",
  "allowDangerouslySkipPermissions",
  "fallbackModel",
  "includeHookEvents",
  "includePartialMessages",
  "sessionMirror",
  "projectConfigRoot",
  "additionalDirectories",
  "pluginDirs",
  "awaitInitialize",
  "forkSession",
  "resumeSessionAt",
  "resumeDropsTurn",
  "sessionId",
  "persistSession",
  "managedSettings",
] as const satisfies readonly (keyof ClaudeFlags)[]

/** Two words, where the others are tied with `=`. */
const TWO_WORDS: ReadonlySet<string> = new Set(["mcpConfig", "managedSettings"])

/** The whole command line of an agent. */
export function argumentsFor(options: Options): string[] {
  const flags = flagsFor(options)
  const always = claudeArguments()
  const written = (one: ClaudeFlags) => claudeArguments(one).slice(always.length)
  return [
    ...always,
    ...ORDER.flatMap((name) => {
      if (name === "pluginDirs") return pluginFlags(options).flatMap(written)
      const style = TWO_WORDS.has(name) ? "separate" : "equals"
      return flags[name] === undefined ? [] : written({ [name]: flags[name], style })
    }),
    ...extraArguments(options, flags).flatMap((one) => written({ ...one, style: "separate" })),
  ]
}

/** One flag each, in the order of the plugins, which is the one they are loaded in. */
function pluginFlags({ plugins = [], pluginDelivery }: Options): ClaudeFlags[] {
  if (pluginDelivery === "initialize") return []
  return plugins.map((plugin) => {
    const isWithoutServers = plugin.skipMcpDiscovery === true
    return { [isWithoutServers ? "pluginDirsNoMcp" : "pluginDirs"]: [plugin.path], style: "equals" }
  })
}

/** The program's own, in its order. Settings stand where the program named them, or last. */
function extraArguments({ extraArgs = {} }: Options, { settings, sandbox }: ClaudeFlags): ClaudeFlags[] {
  const hasSettings = settings !== undefined || sandbox !== undefined
  const names = Object.keys(hasSettings ? { ...extraArgs, settings: null } : extraArgs)
  return names.map((name) => {
    if (name === "settings" && hasSettings) return { settings, sandbox }
    return { extraArgs: { [name]: valueOf(extraArgs[name]) } }
  })
}

/** A program without types may give a number or a boolean: it is written as it is. */
function valueOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === "string" ? value : JSON.stringify(value)
}
