import { isObject } from "@signalbox/protocol"

/** What an official SDK put on the command line of the `claude` that it believes to start. */
export interface CrossingArguments {
  readonly model: string | undefined
  readonly permissionMode: string | undefined
  readonly resume: string | undefined
  readonly fork: boolean
  /** The program wants the pieces of messages in progress. */
  readonly wantsPieces: boolean
  readonly wantsHookEvents: boolean
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
const TAKES_VALUE = new Set([
  "--output-format",
  "--input-format",
  "--permission-prompt-tool",
  "--model",
  "--permission-mode",
  "--resume",
  "--mcp-config",
])

/** Newer SDKs write `--flag=value`, older ones `--flag value`. */
export function readCrossingArguments(argv: readonly string[]): CrossingArguments {
  const args: string[] = []
  const named = new Map<string, string>()
  let wantsPieces = false
  let wantsHookEvents = false
  let fork = false
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ""
    const [flag, inline] = splitFlag(word)
    const hasValue = TAKES_VALUE.has(flag)
    const value = hasValue ? (inline ?? argv[index + 1] ?? "") : undefined
    if (hasValue && inline === undefined) index++
    if (OF_THE_WIRE.has(flag)) continue
    if (flag === "--include-partial-messages") wantsPieces = true
    else if (flag === "--include-hook-events") wantsHookEvents = true
    else if (flag === "--fork-session") fork = true
    else if (flag === "--mcp-config") args.push(...serversElsewhere(value ?? ""))
    else if (value !== undefined) named.set(flag, value)
    else args.push(word)
  }
  return {
    model: named.get("--model"),
    permissionMode: named.get("--permission-mode"),
    resume: named.get("--resume"),
    fork,
    wantsPieces,
    wantsHookEvents,
    args,
  }
}

/** The flags in them, to be named in a refusal. */
export function flagsIn(args: readonly string[]): string[] {
  return args.filter((word) => word.startsWith("--")).map((word) => splitFlag(word)[0])
}

/**
 * Older SDKs always say that no settings are read. Whoever may not send arguments cannot say so, and gets an agent as the hub
 * starts it for everybody.
 */
export function canBeLeftOut(args: readonly string[]): boolean {
  return args.length === 2 && args[0] === "--setting-sources" && args[1] === ""
}

function splitFlag(word: string): [flag: string, inline: string | undefined] {
  const equals = word.indexOf("=")
  return word.startsWith("--") && equals > 0 ? [word.slice(0, equals), word.slice(equals + 1)] : [word, undefined]
}

/** Servers of the program itself come with its `initialize`; the others would run beside the agent. */
function serversElsewhere(config: string): string[] {
  try {
    const value: unknown = JSON.parse(config)
    const servers = isObject(value) && isObject(value["mcpServers"]) ? value["mcpServers"] : undefined
    if (servers === undefined) return ["--mcp-config", config]
    const elsewhere = Object.entries(servers).filter(([, server]) => !isObject(server) || server["type"] !== "sdk")
    if (elsewhere.length === 0) return []
    return ["--mcp-config", JSON.stringify({ mcpServers: Object.fromEntries(elsewhere) })]
  } catch {
    // A file's name.
    return ["--mcp-config", config]
  }
}
