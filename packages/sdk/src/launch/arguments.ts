import { claudeArguments } from "@signalbox/transport/claude-arguments"
import type { ClaudeFlags } from "@signalbox/transport/process"
import type { Options } from "../types/options.ts"
import { flagsFor } from "./flags.ts"

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
