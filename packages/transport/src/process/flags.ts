import { parseObject } from "@signalbox/protocol/envelope"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"
import type { ArgumentStyle, ClaudeFlags, FlagOptions, FlagValues, JsonObject, Thinking } from "./launch-options.ts"

/** These put the CLI on NDJSON both ways; a launch without them speaks no protocol at all. */
const ALWAYS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"] as const

/** One flag of a command line; without `value` it is a switch. */
interface Flag {
  readonly name: string
  readonly value?: string
}

type Writer<T> = (value: T) => readonly Flag[]
type Writers<T> = { readonly [K in keyof T]: Writer<T[K]> }

/** Option, flag, and how the value is written, in the order of the command line. `sandbox` travels inside `settings`. */
const FLAGS: Writers<Omit<FlagValues, "sandbox">> = {
  print: onlyIf(true, "print"),
  sdkUrl: text("sdk-url"),
  model: text("model"),
  fallbackModel: text("fallback-model"),
  agent: text("agent"),
  maxTurns: number("max-turns"),
  maxBudgetUsd: number("max-budget-usd"),
  maxThinkingTokens: number("max-thinking-tokens"),
  thinking: thinkingFlags,
  thinkingDisplay: text("thinking-display"),
  effort: text("effort"),
  taskBudget: ({ total }) => number("task-budget")(total),
  // The CLI does not split this one at commas, whatever older notes say: "a,b" is one unknown beta to it.
  betas: each("betas"),
  jsonSchema: json("json-schema"),
  debug: onlyIf(true, "debug"),
  debugFile: text("debug-file"),
  debugToStderr: onlyIf(true, "debug-to-stderr"),
  permissionPromptTool: text("permission-prompt-tool"),
  permissionPrompts: text("permission-prompts"),
  permissionMode: text("permission-mode"),
  allowDangerouslySkipPermissions: onlyIf(true, "allow-dangerously-skip-permissions"),
  continue: onlyIf(true, "continue"),
  resume: text("resume"),
  forkSession: onlyIf(true, "fork-session"),
  resumeSessionAt: text("resume-session-at"),
  resumeDropsTurn: text("resume-drops-turn"),
  sessionId: text("session-id"),
  persistSession: onlyIf(false, "no-session-persistence"),
  allowedTools: list("allowedTools"),
  disallowedTools: list("disallowedTools"),
  tools: (tools) => text("tools")("type" in tools ? tools.preset : tools.join(",")),
  mcpConfig: json("mcp-config"),
  strictMcpConfig: onlyIf(true, "strict-mcp-config"),
  settingSources: (sources) => text("setting-sources")(sources.join(",")),
  settings: json("settings"),
  managedSettings: json("managed-settings"),
  projectConfigRoot: text("project-config-root"),
  additionalDirectories: each("add-dir"),
  pluginDirs: each("plugin-dir"),
  pluginDirsNoMcp: each("plugin-dir-no-mcp"),
  channels: each("channels"),
  includePartialMessages: onlyIf(true, "include-partial-messages"),
  includeHookEvents: onlyIf(true, "include-hook-events"),
  enableAuthStatus: onlyIf(true, "enable-auth-status"),
  replayUserMessages: onlyIf(true, "replay-user-messages"),
  sessionMirror: onlyIf(true, "session-mirror"),
  awaitInitialize: onlyIf(true, "await-initialize"),
  systemPrompt: text("system-prompt"),
  appendSystemPrompt: text("append-system-prompt"),
}

/** The arguments of a `claude` that speaks stream-json, from the options of a launch. */
export function claudeArguments(flags: ClaudeFlags = {}): string[] {
  const { options, extraArgs } = reconcile(flags)
  const written = [...flagsOf(FLAGS, options), ...extraFlags(extraArgs)]
  const style = flags.style ?? "separate"
  return [...ALWAYS, ...written.flatMap((flag) => argumentsOf(flag, style))]
}

function flagsOf<T>(writers: Writers<T>, options: { readonly [K in keyof T]?: T[K] | undefined }): Flag[] {
  const flags: Flag[] = []
  for (const option in writers) {
    const value = options[option]
    if (value !== undefined) flags.push(...writers[option](value))
  }
  return flags
}

/** A value that begins with a dash would be read as the next flag, so it is tied to its own in either style. */
function argumentsOf({ name, value }: Flag, style: ArgumentStyle): string[] {
  if (value === undefined) return [`--${name}`]
  return style === "equals" || value.startsWith("-") ? [`--${name}=${value}`] : [`--${name}`, value]
}

/** Options that speak of the same thing become one. */
function reconcile(flags: ClaudeFlags): { options: FlagOptions; extraArgs: Readonly<Record<string, string | null>> } {
  const { settings: extraSettings, ...extraArgs } = flags.extraArgs ?? {}
  const options = {
    ...flags,
    ...(flags.debugFile === undefined ? {} : { debug: undefined }),
    ...(flags.thinking === undefined ? {} : { maxThinkingTokens: undefined }),
  }
  if (flags.sandbox === undefined) return { options, extraArgs: flags.extraArgs ?? {} }
  const settings = withSandbox(extraSettings ?? flags.settings, flags.sandbox)
  return { options: { ...options, settings }, extraArgs }
}

function withSandbox(settings: string | JsonObject | undefined, sandbox: JsonObject): JsonObject {
  if (typeof settings !== "string") return { ...settings, sandbox }
  const parsed = parseObject(settings)
  if (parsed === undefined) {
    throw new Error(`sandbox cannot be merged into the settings file ${settings}: pass its contents as an object`)
  }
  return { ...parsed, sandbox }
}

function extraFlags(extraArgs: Readonly<Record<string, string | null>>): Flag[] {
  return Object.entries(extraArgs).map(([name, value]) => {
    if (!/^[A-Za-z][\w-]*$/.test(name)) throw new Error(`extraArgs: ${JSON.stringify(name)} is not the name of a flag`)
    return value === null ? { name } : { name, value }
  })
}

function text(name: string): Writer<string> {
  return (value) => [{ name, value }]
}

function number(name: string): Writer<number> {
  return (value) => {
    if (!Number.isFinite(value)) throw new Error(`--${name} takes a number, not ${value}`)
    return [{ name, value: String(value) }]
  }
}

/** A switch, written only when the option has this value. */
function onlyIf(wanted: boolean, name: string): Writer<boolean> {
  return (value) => (value === wanted ? [{ name }] : [])
}

function list(name: string): Writer<readonly string[]> {
  return (values) => (values.length === 0 ? [] : [{ name, value: values.join(",") }])
}

function each(name: string): Writer<readonly string[]> {
  return (values) => values.map((value) => ({ name, value }))
}

function json(name: string): Writer<string | JsonObject> {
  return (value) => [{ name, value: typeof value === "string" ? value : JSON.stringify(value) }]
}

function thinkingFlags(thinking: Thinking): readonly Flag[] {
  if (thinking.type !== "enabled") return [{ name: "thinking", value: thinking.type }]
  // Without a budget the CLI has no "enabled": adaptive is what thinks there.
  if (thinking.budgetTokens === undefined) return [{ name: "thinking", value: "adaptive" }]
  return number("max-thinking-tokens")(thinking.budgetTokens)
}

/** The options of a launch that stand on the command line, as flags. */
export function launchFlags(options: LaunchOptions): ClaudeFlags {
  const { thinking, mcpServers, outputFormat } = options
  return {
    maxTurns: options.maxTurns,
    maxBudgetUsd: options.maxBudgetUsd,
    thinking:
      thinking?.type === "enabled" ? { type: "enabled", budgetTokens: thinking.budgetTokens } : kindOf(thinking?.type),
    thinkingDisplay: thinking?.display,
    effort: options.effort,
    betas: options.betas,
    jsonSchema: outputFormat?.schema,
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    mcpConfig: mcpServers === undefined ? undefined : { mcpServers },
    settingSources: options.settingSources,
    additionalDirectories: options.additionalDirectories,
  }
}

function kindOf(type: "adaptive" | "disabled" | undefined): ClaudeFlags["thinking"] {
  return type === undefined ? undefined : { type }
}
