import { defined, isObject } from "./envelope.ts"
import type { LaunchOptions } from "./hub-api/launch.ts"

export type { LaunchOptions } from "./hub-api/launch.ts"

/** Permission modes in which somebody is asked, or the tool is denied. Named one by one: what a later CLI adds is not trusted. */
const ASKING_MODES: ReadonlySet<string> = new Set(["default", "acceptEdits", "plan", "delegate", "dontAsk"])

/** The mode of a launch that leaves it to the settings of the machine: no mode is passed to the CLI. */
export const MACHINE_MODE = "machine"

/** The mode of a launch that names none. CLIs 2.1.290 to 2.1.301 would start in `auto` by themselves. */
export const DEFAULT_MODE = "default"

/** `auto` lets a model decide: nobody is asked there either. */
export const AUTO_MODE = "auto"

/** Every mode that a launch can name. A test holds it to the modes of the schemas. */
export const LAUNCH_MODES: readonly string[] = [...ASKING_MODES, AUTO_MODE, "bypassPermissions", MACHINE_MODE]

/** Whether an agent in this mode may run tools without asking anybody. True for what is no mode at all. */
export function mayAskNobody(mode: unknown): boolean {
  return typeof mode !== "string" || !ASKING_MODES.has(mode)
}

type Fields = Readonly<Record<string, unknown>>

/** These travel in the first `initialize`, most others are flags of the command line; `enforce` is between hub and runner. */
const IN_INITIALIZE = ["systemPrompt", "appendSystemPrompt", "agents", "outputFormat"] as const
const IN_FLAGS = [
  "maxTurns",
  "maxBudgetUsd",
  "allowedTools",
  "disallowedTools",
  "additionalDirectories",
  "settingSources",
  "mcpServers",
  "effort",
  "thinking",
  "betas",
] as const satisfies readonly (keyof LaunchOptions)[]

export const LAUNCH_OPTIONS: readonly (keyof LaunchOptions)[] = [...IN_INITIALIZE, ...IN_FLAGS, "enforce"]

/** The launch options among other fields; undefined when there are none. */
export function launchOptionsIn(value: LaunchOptions): LaunchOptions | undefined {
  return pick(value, LAUNCH_OPTIONS)
}

/** The options that a runner writes on the command line. A schema is there too: a CLI may look for it before `initialize`. */
export function flagOptionsIn(value: LaunchOptions): LaunchOptions | undefined {
  return pick(value, [...IN_FLAGS, "outputFormat"])
}

/** A system prompt that stays a list has this name on the way to a runner: older CLIs silently ignore one. */
export const LISTED_PROMPT = "systemPrompt as a list"

/** The names of the options that travel in the first `initialize`, for a runner to check against its CLI's version. */
export function initializeNames(value: LaunchOptions): readonly string[] {
  const { systemPrompt } = value
  const isListed = systemPrompt !== undefined && Array.isArray(oneText(systemPrompt))
  return IN_INITIALIZE.filter((name) => value[name] !== undefined).map((name) =>
    name === "systemPrompt" && isListed ? LISTED_PROMPT : name,
  )
}

function pick(value: LaunchOptions, names: readonly (keyof LaunchOptions)[]): LaunchOptions | undefined {
  const given = names.filter((name) => value[name] !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given.map((name) => [name, value[name]]))
}

/** Fields of an `initialize`. */
export function initializeFields(options: LaunchOptions): Fields {
  const { systemPrompt, appendSystemPrompt, agents, outputFormat } = options
  const prompt = systemPrompt === undefined ? undefined : oneText(systemPrompt)
  return defined({ systemPrompt: prompt, appendSystemPrompt, agents, jsonSchema: outputFormat?.schema })
}

/** Marks where the part of a system prompt begins that changes from session to session. */
export const PROMPT_BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"

/** One text wherever that says the same: CLI 2.1.37 silently ignores a list, and 2.1.325 makes the same of both. */
export function oneText(prompt: string | readonly string[]): string | readonly string[] {
  if (typeof prompt === "string" || prompt.length === 0 || prompt.includes(PROMPT_BOUNDARY)) return prompt
  return prompt.filter((part) => part !== "").join("\n\n")
}

/** A client's own part of an `initialize`, or known to every hub: it is dealt with without the agent. */
const OF_A_CLIENT: ReadonlySet<string> = new Set([
  "subtype",
  "hooks",
  "sdkMcpServers",
  "sdkMcpServerConfigs",
  // They spare a handshake, which then is done.
  "sdkMcpServerManifests",
  "sdkMcpServerManifestsOrigin",
  "supportedDialogKinds",
  "title",
])
const OF_A_LAUNCH: ReadonlySet<string> = new Set(["systemPrompt", "appendSystemPrompt", "agents", "jsonSchema"])

/** Fields of an `initialize` that say something and that a hub has no way to bring to an agent. */
export function uncarriedFields(request: Fields): string[] {
  return Object.keys(request).filter(
    (name) => !OF_A_CLIENT.has(name) && !OF_A_LAUNCH.has(name) && saysSomething(request[name]),
  )
}

/** The launch options that an `initialize` has. Throws an Error with the name of a field of the wrong kind. */
export function optionsOfInitialize(request: Fields): LaunchOptions {
  const { systemPrompt, appendSystemPrompt, agents, jsonSchema } = request
  const isPrompt =
    systemPrompt == null ||
    typeof systemPrompt === "string" ||
    (Array.isArray(systemPrompt) && systemPrompt.every(isText))
  if (!isPrompt) throw new Error("systemPrompt is neither a text nor a list of texts")
  if (appendSystemPrompt != null && !isText(appendSystemPrompt)) throw new Error("appendSystemPrompt is no text")
  if (agents != null && !(isObject(agents) && Object.values(agents).every(isObject))) {
    throw new Error("agents is no object of definitions")
  }
  if (jsonSchema != null && !isObject(jsonSchema)) throw new Error("jsonSchema is no object")
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each was looked at above
  const definitions = agents as LaunchOptions["agents"]
  return {
    ...(systemPrompt == null ? {} : { systemPrompt: oneText(systemPrompt) }),
    ...(appendSystemPrompt == null ? {} : { appendSystemPrompt }),
    ...(definitions == null ? {} : { agents: definitions }),
    ...(jsonSchema == null ? {} : { outputFormat: { type: "json_schema" as const, schema: jsonSchema } }),
  }
}

/**
 * The options, by name, that one asks for and the other was not launched with. An empty one asks for nothing: official SDKs
 * send an empty system prompt with every `initialize`.
 */
export function differingOptions(asked: LaunchOptions, had: LaunchOptions): string[] {
  const plain = (value: unknown, name: string) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of a launch, or optionsOfInitialize, has looked at it
    name === "systemPrompt" ? oneText(value as string | readonly string[]) : value
  return LAUNCH_OPTIONS.filter((name) => {
    const value = asked[name]
    if (value === undefined || !saysSomething(value)) return false
    return had[name] === undefined || !isSame(plain(value, name), plain(had[name], name))
  })
}

function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false
  if (Array.isArray(value)) return value.some(saysSomething)
  return !isObject(value) || Object.keys(value).length > 0
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

/** By value; the order of keys says nothing. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name], other[name]))
  )
}
