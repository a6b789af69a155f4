import { claudeArguments } from "@signalbox/transport/claude-arguments"
import type { ClaudeFlags } from "@signalbox/transport/process"
import { fieldOf, parseObject } from "../base/wire.ts"
import { isInProcess } from "../mcp/sdk-mcp-server.ts"
import type { Options } from "../types/options.ts"

/** The whole command line of an agent. */
export function argumentsFor(options: Options): string[] {
  const always = claudeArguments()
  return [...always, ...flagsFor(options).flatMap((flag) => claudeArguments(flag).slice(always.length))]
}

/** In the official package's order: whoever starts the process for us sees these, and may have come to rely on it. */
function flagsFor(options: Options): ClaudeFlags[] {
  const { plugins = [], pluginDelivery, canUseTool, permissionPromptToolName, debug, debugFile } = options
  const thinking = thinkingOf(options)
  const tied: ClaudeFlags[] = [
    { thinking },
    { thinkingDisplay: thinking === undefined || thinking.type === "disabled" ? undefined : thinking.display },
    { effort: options.effort },
    { maxTurns: numberOf(options.maxTurns) },
    { maxBudgetUsd: numberOf(options.maxBudgetUsd) },
    { taskBudget: options.taskBudget },
    { model: options.model },
    { agent: options.agent },
    { betas: options.betas },
    { jsonSchema: schemaOf(options) },
    { debugFile },
    { debug: debugFile === undefined ? debug : undefined },
    { permissionPromptTool: canUseTool === undefined ? permissionPromptToolName : "stdio" },
    { permissionPrompts: options.permissionPrompts },
    { continue: options.continue },
    { resume: options.resume },
    { allowedTools: [...(options.allowedTools ?? []), ...skillRules(options)] },
    { disallowedTools: options.disallowedTools },
    { tools: toolsOf(options.tools) },
    { mcpConfig: mcpConfigOf(options.mcpServers), style: "separate" },
    { settingSources: options.settingSources },
    { strictMcpConfig: options.strictMcpConfig },
    { permissionMode: options.permissionMode },
    { allowDangerouslySkipPermissions: options.allowDangerouslySkipPermissions },
    { fallbackModel: options.fallbackModel },
    { includeHookEvents: options.includeHookEvents },
    { includePartialMessages: options.includePartialMessages },
    { sessionMirror: options.sessionStore !== undefined },
    { projectConfigRoot: options.projectConfigRoot },
    { additionalDirectories: options.additionalDirectories },
    ...pluginFlags(options),
    { awaitInitialize: pluginDelivery === "initialize" && plugins.length > 0 },
    { forkSession: options.forkSession },
    { resumeSessionAt: options.resumeSessionAt },
    { resumeDropsTurn: options.resumeDropsTurn },
    { sessionId: options.sessionId },
    { persistSession: options.persistSession },
    { managedSettings: options.managedSettings, style: "separate" },
  ]
  return [...tied.map((flag): ClaudeFlags => ({ style: "equals", ...flag })), ...extraArguments(options)]
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
 * The settings' word on the sandbox holds where the option says nothing. One that was asked for and is not there must
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
  return typeof settings === "string" ? parseObject(settings) : settings
}

/** One flag each, in the order of the plugins, which is the one they are loaded in. */
function pluginFlags({ plugins = [], pluginDelivery }: Options): ClaudeFlags[] {
  if (pluginDelivery === "initialize") return []
  return plugins.map((plugin) => {
    const isWithoutServers = plugin.skipMcpDiscovery === true
    return { [isWithoutServers ? "pluginDirsNoMcp" : "pluginDirs"]: [plugin.path] }
  })
}

/** The program's own, in its order. Settings stand where the program named them, or last. */
function extraArguments({ extraArgs = {}, ...options }: Options): ClaudeFlags[] {
  const settings = options.settings ?? extraArgs["settings"] ?? undefined
  const sandbox = sandboxOf(options.sandbox, settings)
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
