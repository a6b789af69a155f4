import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { isObject, parseJson } from "@signalbox/protocol/envelope"
import { hostOf, textIn } from "../json.ts"
import { createLaunch, isOn, type Launch } from "../launch/launch.ts"
import type { WireProfile } from "../profiles/profile.ts"
import { refused } from "../simulator-error.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** The launch that a command line and an environment describe. Throws `launch/refused` with the CLI's own words. */
export function launchFrom(parsed: ParsedArguments, env: Environment, profile: WireProfile): Launch {
  const { one } = parsed
  const number = (name: string) => numberOf(one(name))
  const list = (...names: string[]) => names.flatMap((name) => splitList(parsed.values.get(name) ?? []))
  const has = (name: string) => parsed.switches.has(name)
  checkFormats(parsed, profile)
  checkValues(parsed, profile)
  const cwd = resolve(process.cwd(), one("cwd") ?? ".")
  const partial = has("include-partial-messages") || isOn(env["CLAUDE_CODE_INCLUDE_PARTIAL_MESSAGES"])
  const promptTool = one("permission-prompt-tool")
  const skips = has("dangerously-skip-permissions")
  checkRoot(skips || one("permission-mode") === "bypassPermissions" || has("allow-dangerously-skip-permissions"), env)
  return createLaunch({
    cwd,
    configDir: env["CLAUDE_CONFIG_DIR"] ?? join(env["HOME"] ?? homedir(), ".claude"),
    env,
    permissionMode: skips ? "bypassPermissions" : (one("permission-mode") ?? "default"),
    mayBypassPermissions: skips || has("allow-dangerously-skip-permissions"),
    includePartialMessages: partial,
    replayUserMessages: has("replay-user-messages"),
    includeHookEvents: has("include-hook-events"),
    allowedTools: list("allowedTools", "allowed-tools"),
    disallowedTools: list("disallowedTools", "disallowed-tools"),
    addDirs: (parsed.values.get("add-dir") ?? []).map((path) => resolve(cwd, path)),
    asksHost: has("sdk-url") || promptTool === "stdio" || one("permission-prompts") === "host",
    // `stdio` means the host; any other name is an MCP tool that answers in its place.
    permissionPromptTool: promptTool === "stdio" ? undefined : promptTool,
    agent: one("agent"),
    mirrorsSession: has("session-mirror"),
    session: sessionFrom(parsed),
    tools: toolsFrom(parsed),
    model: one("model") ?? env["ANTHROPIC_MODEL"],
    maxTurns: number("max-turns"),
    maxBudgetUsd: number("max-budget-usd"),
    settings: jsonOrFile(one("settings")),
    settingSources: one("setting-sources")
      ?.split(",")
      .filter((name) => name !== ""),
    jsonSchema: schemaFrom(one("json-schema"), profile),
  })
}

/** With `--sdk-url` the formats are set, and another beside it is refused. */
function checkFormats({ one, switches }: ParsedArguments, { version, dial }: WireProfile): void {
  const [output, input, url] = [one("output-format"), one("input-format"), one("sdk-url")]
  if (url !== undefined && dial === undefined) {
    const why = `host "${hostOf(url)}" is not an approved Anthropic endpoint`
    throw refused(
      `Error: --sdk-url rejected: ${why}. The flag is reserved for Remote Control worker processes (${version}).`,
    )
  }
  if (url !== undefined && (output ?? "stream-json") !== "stream-json") {
    throw refused("Error: --sdk-url requires both --input-format=stream-json and --output-format=stream-json.")
  }
  if (url === undefined && input === "stream-json" && output !== "stream-json") {
    throw refused("Error: --input-format=stream-json requires output-format=stream-json.")
  }
  if (url === undefined && output === "stream-json" && !switches.has("verbose")) {
    throw refused("Error: When using --print, --output-format=stream-json requires --verbose")
  }
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** Refuses values as the version's own reading of its flags does. */
function checkValues({ one }: ParsedArguments, { quirks, catalog }: WireProfile): void {
  const id = one("session-id")
  if (id !== undefined && !UUID.test(id)) throw refused("Error: Invalid session ID. Must be a valid UUID.")
  const mode = one("permission-mode")
  const modes = quirks.checksFlags ? [...catalog.permissionModes, "manual"] : catalog.permissionModes
  if (mode !== undefined && !modes.includes(mode)) {
    const choices = modes.filter((each) => !quirks.checksFlags || each !== "default").toSorted()
    const wrong = `argument '${mode}' is invalid. Allowed choices are ${choices.join(", ")}.`
    throw refused(`error: option '--permission-mode <mode>' ${wrong}`)
  }
  const turns = one("max-turns")
  if (quirks.checksFlags && turns !== undefined && numberOf(turns) === undefined) {
    throw refused(`error: option '--max-turns <turns>' argument '${turns}' is invalid. must be a number`)
  }
}

/** The CLI refuses to skip permissions for root, but in a sandbox. */
function checkRoot(skips: boolean, env: Environment): void {
  if (!skips || process.getuid?.() !== 0 || isOn(env["IS_SANDBOX"])) return
  throw refused("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")
}

function sessionFrom({ one, switches }: ParsedArguments): Launch["session"] {
  return {
    persist: !switches.has("no-session-persistence"),
    continueLast: switches.has("continue"),
    fork: switches.has("fork-session"),
    resume: one("resume"),
    resumeAt: one("resume-session-at"),
    sessionId: one("session-id"),
  }
}

/** `default` stands for all of them; nothing at all for none. */
function toolsFrom({ values, switches }: ParsedArguments): readonly string[] | undefined {
  const named = splitList(values.get("tools") ?? [])
  return !switches.has("tools") || named.includes("default") ? undefined : named
}

/** Commas separate, but not inside the brackets of a rule. */
function splitList(texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => text.split(/,(?![^(]*\))/))
    .flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))
}

function numberOf(text: string | undefined): number | undefined {
  const number = Number(text)
  return text === undefined || !Number.isFinite(number) ? undefined : number
}

function jsonOrFile(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  const source = text.trimStart().startsWith("{") ? text : textIn(text)
  if (source === undefined) throw refused(`Error: Settings file not found: ${text}`)
  const value = parseJson(source)
  if (value === undefined) throw refused(`Error: Invalid JSON provided: ${text.slice(0, 200)}`)
  return isObject(value) ? { ...value } : undefined
}

/** The newest generation refuses what is no schema; the others go on without one. */
function schemaFrom(text: string | undefined, { quirks }: WireProfile): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { ...value } : undefined
  } catch (error) {
    if (!quirks.checksFlags) return undefined
    throw refused(`Error: --json-schema is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The command line, read: flags by their name, in either form, and what was not understood. */
export interface ParsedArguments {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly switches: ReadonlySet<string>
  /** The value of a flag; of several the last. */
  readonly one: (flag: string) => string | undefined
  readonly words: readonly string[]
  readonly unknown: readonly string[]
}

/** `value`: one follows. `list`: several may follow. `switch`: none does. `optional`: one may follow. */
const ARITIES = ["value", "list", "switch", "optional"] as const
type Arity = (typeof ARITIES)[number]

/** Every launch flag of the real CLIs that a host may pass, and the simulator's own. */
const BY_ARITY: Readonly<Record<Arity, string>> = {
  value:
    "output-format input-format sdk-url model fallback-model agent agents max-turns max-budget-usd " +
    "max-thinking-tokens thinking thinking-display effort task-budget json-schema debug-file " +
    "permission-prompt-tool permission-prompts permission-mode resume-session-at resume-drops-turn session-id " +
    "setting-sources settings managed-settings project-config-root system-prompt system-prompt-file " +
    "append-system-prompt append-system-prompt-file teammate-mode agent-id agent-name agent-type agent-color " +
    "team-name parent-session-id max-tokens cwd profile scenario speed seed simulate-tools model-url replay " +
    "record fault",
  list:
    "betas allowedTools allowed-tools disallowedTools disallowed-tools tools mcp-config add-dir plugin-dir " +
    "plugin-dir-no-mcp channels",
  optional: "debug resume from-pr remote teleport",
  switch:
    "verbose print debug-to-stderr allow-dangerously-skip-permissions dangerously-skip-permissions continue " +
    "fork-session no-session-persistence strict-mcp-config managed-settings-in-initialize " +
    "include-partial-messages include-hook-events replay-user-messages session-mirror await-initialize " +
    "await-claim enable-auth-status disable-slash-commands ide chrome no-chrome init init-only maintenance " +
    "plan-mode-required version help list json",
}
const FLAGS: ReadonlyMap<string, Arity> = new Map(
  ARITIES.flatMap((arity) => BY_ARITY[arity].split(" ").map((flag) => [flag, arity] as const)),
)

const SHORT: Readonly<Record<string, string>> = {
  p: "print",
  c: "continue",
  r: "resume",
  d: "debug",
  v: "version",
  h: "help",
}

export function parseArguments(argv: readonly string[]): ParsedArguments {
  const values = new Map<string, string[]>()
  const switches = new Set<string>()
  const words: string[] = []
  const unknown: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ""
    const { name, tied } = readFlag(word)
    if (name === undefined) {
      words.push(word)
      continue
    }
    const arity = FLAGS.get(name)
    if (arity === undefined) {
      unknown.push(word)
      continue
    }
    switches.add(name)
    const taken = tied === undefined ? following(argv, at, arity) : [tied]
    if (tied === undefined) at += taken.length
    if (taken.length > 0) values.set(name, [...(values.get(name) ?? []), ...taken])
  }
  return { values, switches, words, unknown, one: (flag) => values.get(flag)?.at(-1) }
}

function readFlag(word: string): { name?: string; tied?: string } {
  const long = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(word)
  if (long !== null) return { name: long[1] ?? "", ...(long[2] === undefined ? {} : { tied: long[2] }) }
  const short = /^-([A-Za-z])$/.exec(word)
  return short === null ? {} : { name: SHORT[short[1] ?? ""] ?? `-${short[1]}` }
}

/** The words that belong to the flag at this place. */
function following(argv: readonly string[], at: number, arity: Arity): string[] {
  const next = argv[at + 1]
  if (arity === "switch" || next === undefined) return []
  if (arity === "value") return [next]
  if (arity === "optional") return next.startsWith("-") ? [] : [next]
  const taken: string[] = []
  for (let from = at + 1; from < argv.length && !(argv[from] ?? "").startsWith("-"); from++)
    taken.push(argv[from] ?? "")
  return taken
}
