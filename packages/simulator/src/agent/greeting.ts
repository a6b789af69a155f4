import { textOf } from "@signalbox/protocol/envelope"
import type { AgentInfo, Fields, SessionFacts } from "../profiles/profile.ts"
import { type AgentCore, toolsOf } from "./core.ts"

/** What an agent tells of itself: on `system/init`, and in its reply to `initialize`. */
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
    cwd: launch.cwd,
    sessionId: core.wire.sessionId,
    configDir: launch.configDir,
    pid: launch.pid,
    model: state.model,
    permissionMode: state.permissions.mode,
    apiKeySource: apiKeySource(launch.env),
    tools: toolsOf(core),
    mcpServers: core.mcp.initList(),
    mcpPrompts: core.mcp.promptNames(),
    plugins: launch.plugins,
    pages: launch.pages,
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
