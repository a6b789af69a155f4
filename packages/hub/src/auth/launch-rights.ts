import { isObject } from "@signalbox/protocol"
import type { LaunchOptions } from "@signalbox/protocol/launch-options"

/** Options that widen what an agent may do without being asked. */
const ADMINS = ["allowedTools", "settingSources", "additionalDirectories"] as const

/** Fields of a server's configuration that start nothing and permit nothing. Named one by one: later CLIs add others. */
const SERVER_FIELDS: ReadonlySet<string> = new Set(["type", "url", "headers", "timeout"])
const REMOTE: ReadonlySet<unknown> = new Set(["http", "sse", "ws"])

/** Fields of a sub-agent's definition that start nothing and permit nothing. Its servers and its mode are looked at. */
const AGENT_FIELDS: ReadonlySet<string> = new Set(
  `description prompt tools disallowedTools model skills maxTurns background effort initialPrompt memory omitClaudeMd
  autoCompactWindow observer observerMessage criticalSystemReminder_EXPERIMENTAL mcpServers permissionMode`.split(
    /\s+/,
  ),
)

/** Names the first of these options that only an admin may set, if any. */
export function adminsOption(options: LaunchOptions, isOperatorsMode: (mode: unknown) => boolean): string | undefined {
  const named = ADMINS.find((name) => options[name] !== undefined)
  if (named !== undefined) return `\`${named}\``
  const server = Object.entries(options.mcpServers ?? {}).find(([, config]) => !isPlainServer(config))?.[0]
  if (server !== undefined) return `\`mcpServers.${server}\`, which may start a process,`
  for (const [name, agent] of Object.entries(options.agents ?? {})) {
    const field = Object.keys(agent).find((key) => !isPlainField(key, agent[key], isOperatorsMode))
    if (field !== undefined) return `\`agents.${name}.${field}\``
  }
  return undefined
}

function isPlainServer(config: unknown): boolean {
  if (!isObject(config) || !REMOTE.has(config["type"])) return false
  return Object.keys(config).every((name) => SERVER_FIELDS.has(name))
}

function isPlainField(name: string, value: unknown, isOperatorsMode: (mode: unknown) => boolean): boolean {
  if (name === "permissionMode") return isOperatorsMode(value)
  // A list: names of servers that the session has, and servers of the sub-agent's own.
  if (name === "mcpServers") return Array.isArray(value) && value.every(isPlainServerOfAgent)
  return AGENT_FIELDS.has(name)
}

function isPlainServerOfAgent(server: unknown): boolean {
  if (typeof server === "string") return true
  return isObject(server) && Object.values(server).every(isPlainServer)
}
