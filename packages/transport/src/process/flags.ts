import { parseObject } from "@signalbox/protocol/envelope"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"

type JsonObject = Readonly<Record<string, unknown>>

export type Thinking =
  | { readonly type: "adaptive" }
  | { readonly type: "enabled"; readonly budgetTokens?: number | undefined }
  | { readonly type: "disabled" }

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
const FLAGS = {
  print: onlyIf(true, "print"),
  /** The CLI dials this address instead of using stdio; only up to 2.1.120. */
  sdkUrl: text("sdk-url"),
  model: text("model"),
  fallbackModel: text("fallback-model"),
  agent: text("agent"),
  maxTurns: number("max-turns"),
  maxBudgetUsd: number("max-budget-usd"),
  /** Passed as it is; `thinking` wins when both are given. */
  maxThinkingTokens: number("max-thinking-tokens"),
  thinking: thinkingFlags,
  thinkingDisplay: text("thinking-display"),
  /** low, medium, high, xhigh, max in CLI 2.1.325. */
  effort: text("effort"),
  taskBudget: ({ total }: { readonly total: number }) => number("task-budget")(total),
  // The CLI does not split this one at commas, whatever older notes say: "a,b" is one unknown beta to it.
  betas: each("betas"),
  jsonSchema: json<JsonObject>("json-schema"),
  debug: onlyIf(true, "debug"),
  /** Implies `debug`. */
  debugFile: text("debug-file"),
  debugToStderr: onlyIf(true, "debug-to-stderr"),
  /** `stdio` makes the CLI ask over the wire (`can_use_tool`); any other name is an MCP tool. */
  permissionPromptTool: text("permission-prompt-tool"),
  permissionPrompts: text<"host" | "none">("permission-prompts"),
  permissionMode: text("permission-mode"),
  allowDangerouslySkipPermissions: onlyIf(true, "allow-dangerously-skip-permissions"),
  continue: onlyIf(true, "continue"),
  resume: text("resume"),
  forkSession: onlyIf(true, "fork-session"),
  resumeSessionAt: text("resume-session-at"),
  /** The id of the message whose turn is dropped; the CLI wants `resumeSessionAt` with it. */
  resumeDropsTurn: text("resume-drops-turn"),
  sessionId: text("session-id"),
  /** Only `false` is written: the CLI keeps sessions unless it is told not to. */
  persistSession: onlyIf(false, "no-session-persistence"),
  allowedTools: list("allowedTools"),
  disallowedTools: list("disallowedTools"),
  /** An empty list switches every built-in tool off. */
  tools: (tools: readonly string[] | { readonly type: "preset"; readonly preset: "default" }) =>
    text("tools")("type" in tools ? tools.preset : tools.join(",")),
  /** The whole configuration, `{ mcpServers: … }`, or the path of a file. */
  mcpConfig: json("mcp-config"),
  strictMcpConfig: onlyIf(true, "strict-mcp-config"),
  /** An empty list is passed on, and means no settings file at all. */
  settingSources: (sources: readonly string[]) => text("setting-sources")(sources.join(",")),
  /** An object, or what the CLI takes: JSON text or the path of a file. */
  settings: json("settings"),
  managedSettings: json("managed-settings"),
  projectConfigRoot: text("project-config-root"),
  additionalDirectories: each("add-dir"),
  pluginDirs: each("plugin-dir"),
  pluginDirsNoMcp: each("plugin-dir-no-mcp"),
  channels: each("channels"),
  includePartialMessages: onlyIf(true, "include-partial-messages"),
  includeHookEvents: onlyIf(true, "include-hook-events"),
  /** Makes the CLI tell how its sign-in goes (`auth_status`). */
  enableAuthStatus: onlyIf(true, "enable-auth-status"),
  replayUserMessages: onlyIf(true, "replay-user-messages"),
  sessionMirror: onlyIf(true, "session-mirror"),
  awaitInitialize: onlyIf(true, "await-initialize"),
  systemPrompt: text("system-prompt"),
  appendSystemPrompt: text("append-system-prompt"),
}

type FlagValues = { readonly [K in keyof typeof FLAGS]: Parameters<(typeof FLAGS)[K]>[0] }

/** The options that have a flag. `undefined` is the same as absent, so that callers can pass their own options through. */
type FlagOptions = { readonly [K in keyof FlagValues]?: FlagValues[K] | undefined }

/** How a flag and its value stand in argv: `--flag value` (as SDKs 0.1 and 0.2 write it) or `--flag=value` (0.3). */
export type ArgumentStyle = "separate" | "equals"

/** Options of a launch that the CLI takes on its command line. */
export interface ClaudeFlags extends FlagOptions {
  /** Becomes the key `sandbox` of `settings`. */
  readonly sandbox?: JsonObject | undefined
  readonly style?: ArgumentStyle | undefined
  /** Any other flag, named without its dashes; `null` stands for no value. Written last, so that they win. */
  readonly extraArgs?: Readonly<Record<string, string | null>> | undefined
}

/** The arguments of a `claude` that speaks stream-json, from the options of a launch. */
export function claudeArguments(flags: ClaudeFlags = {}): string[] {
  const { options, extraArgs } = reconcile(flags)
  const written = [...flagsOf<FlagValues>(FLAGS, options), ...extraFlags(extraArgs)]
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

function text<Text extends string = string>(name: string): Writer<Text> {
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

function json<Value extends string | JsonObject = string | JsonObject>(name: string): Writer<Value> {
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
    thinking,
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
