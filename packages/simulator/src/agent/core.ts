import { textOf } from "@signalbox/protocol/envelope"
import { textsIn } from "../json.ts"
import type { SourcedSettings } from "../launch/launch.ts"
import type { McpClient } from "../mcp/link.ts"
import type { Model } from "../model/model.ts"
import type { PermissionState } from "../permissions/rules.ts"
import type { AgentInfo, Fields, SessionFacts, WireProfile } from "../profiles/profile.ts"
import type { Transcript } from "../sessions/transcript.ts"
import type { Toolbox, ToolOwner } from "../tools/toolbox.ts"
import type { MessageQueue } from "../wire/message-queue.ts"
import type { Hooks } from "./hooks.ts"
import type { Ledger } from "./ledger.ts"

/** The parts of an agent, for those that play one of them. */
export interface AgentCore extends ToolOwner, McpClient {
  readonly settings: readonly SourcedSettings[]
  readonly hooks: Hooks
  readonly queue: MessageQueue
  readonly ledger: Ledger
  readonly model: Model
  readonly toolbox: Toolbox
  readonly transcript: Transcript
  /** The conversation as the model is told it. */
  readonly history: Fields[]
  readonly state: AgentState
}

/** State that changes while an agent lives. */
interface AgentState {
  permissions: PermissionState
  /** Resolved: a name the API knows. */
  model: string
  results: number
  /** Whether the last result was an error: the exit code tells it. */
  lastFailed: boolean
  title?: string
  /** The one that refused and was replaced: which tools there are still goes by it. */
  refusedModel?: string
  /** Replies that were refused. */
  safetyStops: number
  subagents: number
  /** Sub-agents that their turn waited for because it was asked to. */
  subagentsInFront: number
  promptId: string
  agents: Readonly<Record<string, Fields>>
  jsonSchema: Readonly<Fields> | undefined
}

/** The model's full name, from what a flag or a host calls it. */
export function resolveModel(profile: WireProfile, name: string | undefined): string {
  const wanted = name === undefined || name === null || name === "" ? "default" : name
  const known = profile.catalog.models.find(({ value }) => value === wanted)
  if (known !== undefined) return known.resolvedModel
  const alias = { sonnet: /sonnet/, opus: /opus/, haiku: /haiku/ }[wanted]
  const similar = alias && profile.catalog.models.find(({ resolvedModel }) => alias.test(resolvedModel))
  return similar?.resolvedModel.replace("[1m]", "") ?? wanted
}

const NEEDS_SOMEBODY = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]
const TASK_TOOLS = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]

/** The tools of this launch, in the order of `system/init`. */
export function toolsOf(core: AgentCore): string[] {
  const { launch, profile, state } = core
  const { sortsTools } = profile.quirks
  const isLed = launch.agent !== undefined && profile.quirks.agentLeads
  const agent = isLed ? state.agents[launch.agent]?.["tools"] : undefined
  const named = launch.tools ?? (Array.isArray(agent) ? textsIn(agent) : undefined)
  const base = named ?? ownTools(core)
  const own = base.filter((tool) => tool !== "" && !isDisabled(core, tool))
  const structured = state.jsonSchema === undefined ? own : withTools(own, ["StructuredOutput"], sortsTools)
  const resources = core.mcp.withResources().length === 0 ? [] : profile.quirks.resourceTools
  // The oldest generation puts them last of all.
  const all = sortsTools ? withTools(structured, resources, true) : structured
  // The model must not call the tool that answers permissions.
  const hosted = core.mcp.toolNames().filter((name) => name !== launch.permissionPromptTool)
  if (!sortsTools) return [...all, ...hosted, ...resources]
  return [...all, ...(profile.quirks.sortsHostedTools ? hosted.toSorted() : hosted)]
}

/** Whether a flag or a settings file takes the whole tool away. */
export function isDisabled({ launch, state }: AgentCore, tool: string): boolean {
  const denied = state.permissions.rules.deny.some((rule) => rule.toolName === tool && rule.ruleContent === undefined)
  return denied || launch.disallowedTools.includes(tool)
}

/** The newest generation offers its tools by who is there to answer, by model, and by what else there is. */
function ownTools(core: AgentCore): readonly string[] {
  const { launch, profile, state } = core
  const { tools } = profile.catalog
  if (!profile.quirks.fitsTools) return tools
  const isAsked = launch.asksHost || launch.permissionPromptTool !== undefined
  const answered = isAsked ? tools : tools.filter((tool) => !NEEDS_SOMEBODY.includes(tool))
  const forModel = /-4-/.test(state.refusedModel ?? state.model) ? withTools(answered, TASK_TOOLS, true) : answered
  if (!isDisabled(core, "Bash")) return forModel
  const withoutShell = forModel.filter((tool) => tool !== "Monitor")
  return withTools(withoutShell, ["Glob", "Grep"], true)
}

/** Newer generations sort their tools, but for the first. */
function withTools(tools: readonly string[], names: readonly string[], isSorted: boolean): string[] {
  return names.reduce<string[]>(
    (list, name) => {
      const at = list.findIndex((tool, index) => index > 0 && tool > name)
      return !isSorted || at === -1 ? [...list, name] : list.toSpliced(at, 0, name)
    },
    [...tools],
  )
}

/** Facts that an agent tells of itself: on `system/init`, and in its reply to `initialize`. */
function sessionFacts(core: AgentCore, userUuids: readonly string[] = []): SessionFacts {
  const { profile, launch, state } = core
  const added = Object.entries(state.agents).map(([name, agent]) => ({
    name,
    description: textOf(agent, "description") ?? "",
    ...(typeof agent["model"] === "string" ? { model: agent["model"] } : {}),
  }))
  const brought = profile.quirks.tellsPlugins ? launch.plugins.flatMap(({ agents }) => agents) : []
  const agents = [...added, ...brought, ...launch.pages.agents]
  return {
    ...launch,
    sessionId: core.wire.sessionId,
    model: state.model,
    permissionMode: state.permissions.mode,
    apiKeySource: apiKeySource(launch.env),
    tools: toolsOf(core),
    mcpServers: core.mcp.initList(),
    mcpPrompts: core.mcp.promptNames(),
    agents: withAdded(core, agents),
    directories: state.permissions.directories,
    hooksApplied: core.hooks.isSet,
    uuid: core.random.uuid(),
    userUuids,
  }
}

/** Newer generations sort them, as their catalogs are, 2.1.120 only those of files; the oldest puts its own first. */
function withAdded(core: AgentCore, added: readonly AgentInfo[]): readonly AgentInfo[] {
  const own = core.profile.catalog.agents
  // To compare words of a language takes Node some milliseconds, the first time.
  const { sortsAgents } = core.profile.quirks
  const isSorted = sortsAgents === "always" || (sortsAgents === "with-files" && core.launch.pages.agents.length > 0)
  if (added.length === 0 || !isSorted) return [...own, ...added]
  return [...own, ...added].toSorted((a, b) => a.name.localeCompare(b.name, "en", { sensitivity: "base" }))
}

export function tellInit(core: AgentCore, userUuids: readonly string[]): void {
  core.wire.emit(core.profile.shapes.init(sessionFacts(core, userUuids)))
}

export function initializeReply(core: AgentCore): Fields {
  return core.profile.shapes.initializeReply(sessionFacts(core))
}

/** A simulator needs no key; with none in sight it tells what a CLI with one would. */
function apiKeySource(env: Readonly<Record<string, string | undefined>>): string {
  if (env["ANTHROPIC_API_KEY"] || env["ANTHROPIC_AUTH_TOKEN"] === undefined) return "ANTHROPIC_API_KEY"
  return "none"
}

/**
 * Puts a message into the history that the model is told, and into the transcript with `extra`. Pieces of one message
 * become one again.
 */
export function rememberMessage(core: AgentCore, message: Fields, said: Fields, extra: Fields = {}): void {
  const { role, id } = message
  const content = Array.isArray(message["content"]) ? message["content"] : [{ type: "text", text: message["content"] }]
  const last = core.history.at(-1)
  const isSame = last !== undefined && last["role"] === role && (role === "user" || last["id"] === id)
  if (isSame && Array.isArray(last["content"])) last["content"] = [...last["content"], ...content]
  else core.history.push(role === "user" ? { role, content } : { role, id, content })
  const uuid = textOf(said, "uuid") ?? ""
  core.transcript.add(role === "user" ? "user" : "assistant", {
    message,
    uuid,
    timestamp: core.wire.timestamp(),
    extra,
  })
}
