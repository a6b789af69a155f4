import type { ClaudeFlags, Thinking } from "@signalbox/transport/process"
import { fieldOf, isObject } from "../base/wire.ts"
import { isInProcess } from "../mcp/in-process.ts"
import type { Options } from "../types/options.ts"

/** What the options ask of the command line; `arguments.ts` writes it. */
export function flagsFor(options: Options): ClaudeFlags {
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
