import { fieldOf, isObject, parseObject } from "@signalbox/protocol/envelope"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"

/** The command line that an official SDK gave to the `claude` that it believes to start. */
export interface CrossingArguments {
  readonly model: string | undefined
  readonly permissionMode: string | undefined
  readonly resume: string | undefined
  readonly isContinued: boolean
  readonly fork: boolean
  /** The program wants the pieces of messages in progress. */
  readonly wantsPieces: boolean
  readonly wantsHookEvents: boolean
  /** Fields of a launch. */
  readonly options: LaunchOptions
  /** For the agent's command line as they are: only an admin's token may send them. */
  readonly args: readonly string[]
}

/** How the lines travel is the runner's business: it sets these itself. */
const OF_THE_WIRE = new Set([
  "--output-format",
  "--input-format",
  "--verbose",
  "--print",
  "-p",
  "--permission-prompt-tool",
  "--replay-user-messages",
  "--enable-auth-status",
  // Set with the mode that needs it.
  "--allow-dangerously-skip-permissions",
])
const NAMED = new Set(["--output-format", "--input-format", "--permission-prompt-tool", "--model", "--permission-mode"])

type ReadOption = (value: string, before: LaunchOptions) => LaunchOptions | undefined

/** Flags that are fields of a launch. Undefined: this value is none, and stays an argument. */
const OPTIONS: Readonly<Record<string, ReadOption>> = {
  "--max-turns": (value) => ({ maxTurns: Number(value) }),
  "--max-budget-usd": (value) => ({ maxBudgetUsd: Number(value) }),
  "--allowedTools": (value) => ({ allowedTools: listIn(value) }),
  "--disallowedTools": (value) => ({ disallowedTools: listIn(value) }),
  "--add-dir": (value, { additionalDirectories = [] }) => ({
    additionalDirectories: [...additionalDirectories, value],
  }),
  "--setting-sources": (value) => ({ settingSources: listIn(value) }),
  "--effort": (effort) => ({ effort }),
  "--betas": (value, { betas = [] }) => ({ betas: [...betas, value] }),
  "--thinking": (type, { thinking }) =>
    type === "adaptive" || type === "disabled" ? { thinking: { ...thinking, type } } : undefined,
  "--thinking-display": (display, { thinking }) => ({ thinking: { type: "adaptive", ...thinking, display } }),
  "--max-thinking-tokens": (value, { thinking }) =>
    Number(value) > 0 ? { thinking: { ...thinking, type: "enabled", budgetTokens: Number(value) } } : undefined,
  "--json-schema": (value) => {
    const schema = parseObject(value)
    return schema && { outputFormat: { type: "json_schema", schema } }
  },
  "--mcp-config": serversElsewhere,
}

/** Newer SDKs write `--flag=value`, older ones `--flag value`. */
export function readCrossingArguments(argv: readonly string[]): CrossingArguments {
  const args: string[] = []
  const named = new Map<string, string>()
  let options: LaunchOptions = {}
  let wantsPieces = false
  let wantsHookEvents = false
  let isContinued = false
  let fork = false
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ""
    const [flag, inline] = splitFlag(word)
    const read = OPTIONS[flag]
    const hasValue = NAMED.has(flag) || flag === "--resume" || read !== undefined
    const value = hasValue ? (inline ?? argv[index + 1] ?? "") : undefined
    if (hasValue && inline === undefined) index++
    if (OF_THE_WIRE.has(flag)) continue
    if (flag === "--include-partial-messages") wantsPieces = true
    else if (flag === "--include-hook-events") wantsHookEvents = true
    else if (flag === "--continue" || flag === "-c") isContinued = true
    else if (flag === "--fork-session") fork = true
    else if (value === undefined) args.push(word)
    else if (read === undefined) named.set(flag, value)
    else {
      const option = read(value, options)
      if (option === undefined) args.push(flag, value)
      else options = { ...options, ...option }
    }
  }
  return {
    model: named.get("--model"),
    permissionMode: named.get("--permission-mode"),
    resume: named.get("--resume"),
    isContinued,
    fork,
    wantsPieces,
    wantsHookEvents,
    options,
    args,
  }
}

/** The flags in them, to be named in a refusal. */
export function flagsIn(args: readonly string[]): string[] {
  return args.filter((word) => word.startsWith("--")).map((word) => splitFlag(word)[0])
}

/**
 * The options without what older SDKs always say: that no settings are read. Whoever may not say so gets an agent as the hub
 * starts it for everybody.
 */
export function withoutHabits(options: LaunchOptions): LaunchOptions {
  const { settingSources, ...others } = options
  return settingSources?.length === 0 ? others : options
}

function splitFlag(word: string): [flag: string, inline: string | undefined] {
  const equals = word.indexOf("=")
  return word.startsWith("--") && equals > 0 ? [word.slice(0, equals), word.slice(equals + 1)] : [word, undefined]
}

/** Rules may hold commas themselves: joined again by the same sign, they are what they were. */
function listIn(value: string): string[] {
  return value === "" ? [] : value.split(",")
}

/** Servers of the program itself come with its `initialize`; the others would run beside the agent. */
function serversElsewhere(config: string): LaunchOptions | undefined {
  // Undefined for a file's name too.
  const servers = fieldOf(parseObject(config), "mcpServers")
  if (servers === undefined) return undefined
  const mcpServers: Record<string, Readonly<Record<string, unknown>>> = {}
  for (const [name, server] of Object.entries(servers)) {
    if (!isObject(server)) return undefined
    if (server["type"] !== "sdk") mcpServers[name] = server
  }
  return Object.keys(mcpServers).length === 0 ? {} : { mcpServers }
}
