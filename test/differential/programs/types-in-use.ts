import type { UUID } from "node:crypto"
import {
  type AgentDefinition,
  type AgentMcpServerSpec,
  type BackgroundTaskSummary,
  type CanUseTool,
  HOOK_EVENTS,
  type HookCallback,
  type HookEvent,
  type McpServerStatus,
  type ModelUsage,
  type Options,
  type PermissionMode,
  type Query,
  type SDKControlGetContextUsageResponse,
  type SDKControlRequest,
  type SDKControlResponse,
  type SDKMessage,
  type SDKMessageOrigin,
  type SDKResultMessage,
  type SDKSystemMessage,
  type SessionCronSummary,
  type Settings,
  type SlashCommand,
  type Transport,
} from "@anthropic-ai/claude-agent-sdk"
import { observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Compiling is the point: what is there for certain is read without a question mark, and what may be null is asked. */
export async function run(): Promise<void> {
  const events: readonly HookEvent[] = HOOK_EVENTS
  observe("events", events.includes("PostToolBatch"))
  observe("options", options)
}

const servers: AgentMcpServerSpec[] = ["known", { other: { command: "server", args: ["--quiet"] } }]
const reviewer: AgentDefinition = {
  description: "reviews",
  prompt: "Review.",
  mcpServers: servers,
  omitClaudeMd: true,
  autoCompactWindow: 100_000,
  criticalSystemReminder_EXPERIMENTAL: "Only read.",
}
const settings: Settings = { permissions: { allow: ["Read"], defaultMode: "plan" }, env: { A: "1" } }
const options: Options = {
  agents: { reviewer },
  mcpServers: {
    web: { type: "http", url: "http://127.0.0.1:9", timeout: 5000, tools: [{ name: "get" }] },
    local: { command: "server", alwaysLoad: true },
  },
  plugins: [{ type: "local", path: "plugin", skipMcpDiscovery: true }],
  sandbox: { enabled: true, network: { allowedDomains: ["example.org"], allowLocalBinding: true } },
  settings,
  systemPrompt: { type: "custom", prompt: ["Be brief.", "Be kind."], snapshot: true },
}

export const allowed = (): string[] => settings.permissions?.allow ?? []

const labels: Record<PermissionMode, string> = {
  default: "asks",
  acceptEdits: "edits",
  bypassPermissions: "does all",
  plan: "plans",
  dontAsk: "refuses",
  auto: "decides",
}

export function banner(init: SDKSystemMessage): string[] {
  const connecting = init.mcp_servers.filter(({ status }) => status === "connecting").length
  const signedIn = init.apiKeySource === "/login managed key" || init.apiKeySource === "oauth"
  const plugins = init.plugins.map(({ name, path }) => `${name} at ${path.length}`)
  const canCancel = init.capabilities?.includes("one_of_a_later_version") ?? false
  return [labels[init.permissionMode], `${connecting}`, `${signedIn}`, ...plugins, ...init.skills, `${canCancel}`]
}

export const idOf = (message: SDKMessage): UUID | undefined => message.uuid

export function line(message: SDKMessage): string {
  if (message.type === "assistant") {
    return message.message.content.map((block) => (block.type === "tool_use" ? block.name : block.type)).join(" ")
  }
  if (message.type === "result") return `${lineOfResult(message)} ${origin(message.origin)}`
  if (message.type === "rate_limit_event") {
    const { rateLimitType, overageStatus } = message.rate_limit_info
    return `${rateLimitType === "five_hour"} ${overageStatus ?? "-"}`
  }
  return message.type === "system" ? lineOfSystem(message) : message.type
}

function lineOfResult(result: SDKResultMessage): string {
  const reason: string | null = result.stop_reason
  const cached: number = result.usage.cache_creation.ephemeral_1h_input_tokens + result.usage.cache_read_input_tokens
  const limits = Object.values(result.modelUsage).map((usage: ModelUsage) => usage.maxOutputTokens.toFixed())
  const command = result.subtype === "success" ? result.local_command?.trimEnd() : result.errors.join()
  return [reason ?? "none", cached, ...limits, command].join()
}

function lineOfSystem(message: Extract<SDKMessage, { type: "system" }>): string {
  if (message.subtype === "api_retry") {
    const status: number | null = message.error_status
    return `${status ?? "no status"} ${message.error}`
  }
  if (message.subtype === "commands_changed") {
    const commands: SlashCommand[] = message.commands
    return commands.map(({ argumentHint }) => argumentHint.length).join()
  }
  if (message.subtype === "hook_response") return message.output.trim() + message.outcome
  if (message.subtype === "task_notification") return message.resource_links?.map(({ uri }) => uri).join() ?? ""
  return message.subtype
}

function origin(from: SDKMessageOrigin | undefined): string {
  return from?.kind === "peer" ? from.from : (from?.kind ?? "nobody")
}

export const decide: CanUseTool = async (_tool, input, { mcpServer, matchedAskRule }) =>
  mcpServer?.source.startsWith("sdk") && matchedAskRule?.toolName.length !== 0
    ? { behavior: "allow", updatedInput: input }
    : { behavior: "deny", message: "Not here." }

export const hook: HookCallback = async (input) => {
  const effort = input.effort?.level.toUpperCase()
  if (input.hook_event_name === "PostToolBatch") {
    return { systemMessage: input.tool_calls.map((call) => call.tool_name + String(call.tool_response)).join() }
  }
  if (input.hook_event_name === "PreCompact") return { systemMessage: input.custom_instructions ?? "none" }
  if (input.hook_event_name === "SessionStart") return { systemMessage: `${input.seconds_since_last_response ?? 0}` }
  if (input.hook_event_name === "PostToolUseFailure") return { systemMessage: input.mcp_server?.source ?? input.error }
  if (input.hook_event_name === "PostModelSwitch") return { systemMessage: input.requested_model ?? input.to_model }
  if (input.hook_event_name === "Stop") {
    const tasks: BackgroundTaskSummary[] = input.background_tasks ?? []
    const crons: SessionCronSummary[] = input.session_crons ?? []
    return { reason: [...tasks.map(({ status }) => status), ...crons.map(({ schedule }) => schedule)].join() }
  }
  return effort === undefined ? {} : { systemMessage: effort }
}

export async function look(running: Query): Promise<unknown[]> {
  const skills: SlashCommand[] = (await running.reloadSkills()).skills
  const { session, rate_limits } = await running.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET()
  const cost: number = session.total_cost_usd
  const week: number | null | undefined = rate_limits?.seven_day?.utilization
  const context: SDKControlGetContextUsageResponse = await running.getContextUsage()
  const later = context.categories.filter(({ kind }) => kind === "deferred").map(({ tokens }) => tokens.toFixed())
  const status: McpServerStatus[] = await running.mcpServerStatus()
  const isDirect = (await running.accountInfo()).apiProvider === "firstParty"
  await running.applyFlagSettings({ model: null, effortLevel: "high" })
  return [skills, cost, week, later, context.apiUsage?.input_tokens, status[0]?.serverInfo?.version.length, isDirect]
}

export async function hardest(running: Query): Promise<Options> {
  const level = (await running.supportedModels())[0]?.supportedEffortLevels?.at(-1)
  return level === undefined ? {} : { effort: level }
}

/** Counts what passes a transport that somebody else made. */
export async function count(transport: Transport): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for await (const message of transport.readMessages()) counts[message.type] = (counts[message.type] ?? 0) + 1
  return counts
}
export const asks = (message: SDKControlRequest): string => `${message.request_id} ${message.request.subtype}`
export const answers = ({ response }: SDKControlResponse): string =>
  response.subtype === "error" ? response.error : Object.keys(response.response ?? {}).join()
