import { isObject } from "@signalbox/protocol"
import type { Access, HubSettings, NewSession, Role } from "@signalbox/protocol/hub-api"
import { AUTO_MODE, type LaunchOptions, mayAskNobody } from "@signalbox/protocol/launch-options"
import { type AskAnswer, areSuggested } from "../model/ask.ts"

const RANK: Readonly<Record<Role, number>> = { agent: 0, runner: 0, viewer: 1, operator: 2, admin: 3 }

export function hasAccess(role: Role, access: Access): boolean {
  return RANK[role] >= RANK[access]
}

const STEERING = new Set([
  // Modes are looked at more closely below.
  "set_permission_mode",
  "set_model",
  "set_max_thinking_tokens",
  "mcp_reconnect",
  "mcp_toggle",
  "rewind_files",
  "rewind_conversation",
  "stop_task",
  "background_tasks",
  "rename_session",
  "generate_session_title",
  // As the REST routes of the same meaning.
  "interrupt",
  "cancel_async_message",
  // The hub answers it from its cache, and routes a client's hooks and servers back to that client alone.
  "initialize",
])

const READING = new Set([
  "mcp_status",
  "get_context_usage",
  "get_session_cost",
  "list_models",
  "get_usage",
  "get_binary_version",
  "file_suggestions",
  "read_file",
  "get_task_output",
  "get_settings",
  "get_hooks_listing",
  "list_permission_rules",
  "mcp_read_resource",
  "get_plan",
  "get_status",
  "get_workspace_diff",
])

/** Whether a control request only reads. What is not known, but says so by its name, does too. */
export function isReading(subtype: string): boolean {
  return READING.has(subtype) || /^(?:get|list|read)_/.test(subtype)
}

/** Whether a role may send this control request to an agent. What is not known to be harmless is an admin's. */
export function mayControl(
  role: Role,
  request: { readonly subtype: string; readonly [field: string]: unknown },
  settings: HubSettings,
): boolean {
  if (role === "admin") return true
  if (role !== "operator") return false
  if (request.subtype === "set_permission_mode") return isOperatorsMode(request["mode"], settings)
  return STEERING.has(request.subtype) || READING.has(request.subtype)
}

/** Why a role may not launch this, in words for whoever asked; undefined when it may. */
export function launchRefusal(role: Role, launch: NewSession, settings: HubSettings): string | undefined {
  if (role === "admin") return undefined
  if (role !== "operator") return "Only operators and admins launch agents"
  if (typeof launch.agent === "object") return "A command of one's own as `agent` needs an admin token"
  if (launch.args !== undefined) return "`args` needs an admin token"
  if (launch.env !== undefined) return "`env` needs an admin token"
  if (launch.permissionMode !== undefined && !isOperatorsMode(launch.permissionMode, settings)) {
    return `\`permissionMode\` "${launch.permissionMode}" needs an admin token`
  }
  const option = adminsOption(launch, (mode) => isOperatorsMode(mode, settings))
  return option === undefined ? undefined : `${option} needs an admin token`
}

/** An answer can carry a change of mode: a mode that asks nobody is an admin's by this door too. */
export function mayAnswer(role: Role, answer: AskAnswer, settings: HubSettings): boolean {
  return role === "admin" || (role === "operator" && mayPermit(role, answer, { settings }))
}

const MAX_DEPTH = 100

interface Permitting {
  readonly settings: HubSettings
  /** The permissions that the question suggested, where that is known here; else whoever knows it checks them. */
  readonly suggestions?: readonly unknown[]
}

/**
 * Whether a role may give the permissions in this reply, at whatever depth: the reply to a hook has them far inside. What is
 * nested too deep to be looked at is an admin's.
 */
export function mayPermit(role: Role, reply: unknown, about: Permitting, depth = 0): boolean {
  if (role === "admin" || typeof reply !== "object" || reply === null) return true
  if (depth > MAX_DEPTH) return false
  return Object.entries(reply).every(([name, value]) => {
    if (name === "updatedPermissions" && !areOperatorsUpdates([value].flat().filter(isObject), about)) return false
    return mayPermit(role, value, about, depth + 1)
  })
}

function areOperatorsUpdates(updates: readonly Fields[], { settings, suggestions }: Permitting): boolean {
  const hasOwnModes = updates.every((update) => !("mode" in update) || isOperatorsMode(update["mode"], settings))
  return hasOwnModes && (suggestions === undefined || areSuggested(updates, suggestions))
}

type Fields = Readonly<Record<string, unknown>>

/** The modes that an operator may choose. `machine` is not one: that machine's settings may name a mode that asks nobody. */
export function isOperatorsMode(mode: unknown, { operatorsMayUseAuto }: HubSettings): boolean {
  return !mayAskNobody(mode) || (mode === AUTO_MODE && operatorsMayUseAuto)
}

/** Options that widen what an agent may do without being asked. */
const ADMINS = ["allowedTools", "settingSources", "additionalDirectories", "enforce"] as const

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
function adminsOption(options: LaunchOptions, isOperatorsMode: (mode: unknown) => boolean): string | undefined {
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
