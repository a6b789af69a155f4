import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { hookEvents } from "@signalbox/protocol/known"
import { isInside } from "../permissions/bash-command.ts"
import { BEHAVIORS, showRule } from "../permissions/rules.ts"
import type { Fields } from "../profiles/profile.ts"
import { modelUsage } from "../profiles/shared.ts"
import { models as newestModels, pluginsWith } from "../profiles/v2-1-325.ts"
import { planFile } from "../tools/toolbox.ts"
import { costText } from "./asides.ts"
import type { Control, ControlScope } from "./controls.ts"
import { type AgentCore, initializeReply } from "./core.ts"

// Requests that the oldest generation never answers.

type Answer = (scope: ControlScope) => unknown

/** A request whose answer is just data; undefined is a success without any. */
function data(since: 120 | 325, answer: Answer): Control {
  return { since, run: (scope) => scope.core.wire.success(scope.requestId, answer(scope)) }
}

/** A request that fails in its own words. */
function refuse(since: 120 | 325, error: (scope: ControlScope) => string): Control {
  return { since, run: (scope) => scope.core.wire.error(scope.requestId, error(scope)) }
}

const nothing: Answer = () => undefined

/** A simulator is built with the host's tests; a CLI tells when it was. */
const BUILD_TIME = "2026-01-01T00:00:00Z"

export const newerControls: Readonly<Record<string, Control>> = {
  get_context_usage: data(120, ({ core }) => contextUsage(core)),
  get_session_cost: data(120, ({ core }) => ({ text: costText(core) })),
  list_models: data(325, () => ({ models: newestModels() })),
  get_usage: data(325, ({ core }) => usage(core)),
  get_binary_version: data(120, ({ core }) => ({ version: core.profile.version, buildTime: BUILD_TIME })),
  file_suggestions: data(325, ({ core, request }) => ({
    suggestions: suggestions(core, textOf(request, "query") ?? ""),
    cwd: core.launch.cwd,
  })),
  cancel_async_message: { since: 120, run: cancelMessage },
  read_file: { since: 120, run: readFile },
  seed_read_state: data(120, nothing),
  register_repo_root: refuse(325, ({ request }) =>
    existsSync(textOf(request, "directory") ?? "")
      ? `register_repo_root: ${textOf(request, "directory")} is not a subdirectory of the session's working directory or of a launch-time --add-dir root`
      : "register_repo_root: target path could not be resolved",
  ),
  reload_plugins: data(120, ({ core }) => plugins(core)),
  reload_skills: data(325, ({ core }) => ({ skills: skillsOf(core) })),
  reload_output_styles: data(325, ({ core }) => ({ available_output_styles: core.profile.catalog.outputStyles })),
  set_has_subscribers: data(325, nothing),
  stop_task: { since: 120, run: stopTask },
  background_tasks: data(325, () => ({})),
  get_task_output: { since: 325, run: taskOutput },
  apply_flag_settings: data(120, nothing),
  get_settings: data(120, ({ core }) => settings(core)),
  get_hooks_listing: data(325, () => hooksListing()),
  update_settings: { since: 325, run: updateSettings },
  list_permission_rules: data(325, ({ core }) => permissionRules(core)),
  mcp_read_resource: refuse(325, ({ request }) =>
    (textOf(request, "uri") ?? "").startsWith("ui://")
      ? `Server not found: ${textOf(request, "serverName")}`
      : "mcp_read_resource: uri must use the ui:// scheme",
  ),
  mcp_call: { since: 120, run: mcpCall },
  rename_session: { since: 325, run: rename },
  generate_session_title: data(120, () => ({ title: null })),
  side_question: { since: 120, run: sideQuestion },
  get_plan: data(325, ({ core }) => plan(core)),
  get_status: data(325, ({ core }) => status(core)),
  set_cwd: data(325, ({ request }) => ({ status: "needs_trust", directory: textOf(request, "path") })),
  fork_conversation: data(325, () => ({ forked: false, error: "unsupported", reason: "unsupported" })),
  get_workspace_diff: data(325, () => ({ diff: null, noDiffReason: "no-repository" })),
  export_conversation: data(325, ({ core }) => ({ text: exported(core), default_filename: "conversation.txt" })),
}

function usage(core: AgentCore): Fields {
  const session = {
    total_cost_usd: core.ledger.totalCostUsd,
    total_api_duration_ms: core.ledger.apiMs,
    total_duration_ms: core.ledger.apiMs,
    total_lines_added: 0,
    total_lines_removed: 0,
    model_usage: modelUsage(core.ledger.spending, core.profile.shapes.contextWindow),
  }
  return { session, subscription_type: null, rate_limits_available: false, rate_limits: null, behaviors: null }
}

function suggestions(core: AgentCore, query: string): string[] {
  const { cwd } = core.launch
  const found = core.toolbox.files.list(cwd).map((path) => path.slice(cwd.length + 1))
  return found.filter((path) => query !== "" && path.startsWith(query)).slice(0, 20)
}

function cancelMessage({ core, requestId, request }: ControlScope): void {
  const uuid = textOf(request, "message_uuid") ?? ""
  const cancelled = core.queue.cancel(uuid)
  if (cancelled) core.wire.lifecycle(uuid, "cancelled")
  core.wire.success(requestId, { cancelled })
}

function readFile({ core, requestId, request }: ControlScope): void {
  const named = textOf(request, "path") ?? ""
  const { cwd } = core.launch
  const path = resolve(cwd, named)
  const contents = isInside(path, cwd) ? core.toolbox.files.read(path) : undefined
  const { guardsHostReads } = core.profile.quirks
  if (contents === undefined) {
    const error = guardsHostReads ? `read denied: ${named}` : `ENOENT: no such file or directory, open '${path}'`
    return core.wire.error(requestId, error)
  }
  const limit = request["max_bytes"]
  const bytes = Buffer.from(contents)
  const isCut = typeof limit === "number" && bytes.length > limit
  const shown = isCut ? bytes.subarray(0, limit).toString("utf8") : contents
  const more = guardsHostReads ? { lossy: false, requested_path: named } : {}
  core.wire.success(requestId, { contents: shown, absPath: path, ...(isCut ? { truncated: true } : {}), ...more })
}

function skillsOf(core: AgentCore): Fields[] {
  const { commands, skills } = core.profile.catalog
  const own = commands.filter(({ name }) => skills.includes(name)).map((command) => ({ ...command, builtin: true }))
  const { pages } = core.launch
  const kept = [...pages.skills, ...pages.commands.toSorted((a, b) => (a.info.name < b.info.name ? -1 : 1))]
  return [...kept.map(({ info }) => ({ ...info })), ...own]
}

function plugins(core: AgentCore): Fields {
  const { catalog } = core.profile
  // The newest repeats its own lists here.
  const told = core.profile.quirks.tellsPlugins ? initializeReply(core) : undefined
  return {
    commands: told?.["commands"] ?? catalog.commands,
    agents: told?.["agents"] ?? catalog.agents,
    plugins: core.profile.quirks.tellsPlugins ? pluginsWith(core.launch.plugins) : catalog.plugins,
    mcpServers: core.mcp.statusList(),
    error_count: 0,
  }
}

function stopTask({ core, requestId, request }: ControlScope): void {
  const id = textOf(request, "task_id") ?? ""
  const stopped = core.tasks.stop(id)
  if (stopped || core.profile.quirks.stopsUnknownTasks) return core.wire.success(requestId, {})
  core.wire.error(requestId, `No task found with ID: ${id}`)
}

function taskOutput({ core, requestId, request }: ControlScope): void {
  const output = core.tasks.outputOf(textOf(request, "task_id") ?? "")
  if (output === undefined) {
    return core.wire.error(requestId, "get_task_output: no shell or Monitor task with that task_id in this session")
  }
  core.wire.success(requestId, { output, total_bytes: Buffer.byteLength(output), truncated: false })
}

function settings(core: AgentCore): Fields {
  const { model } = core.state
  const effective = { ...core.launch.settings }
  if (!core.profile.quirks.detailsSettings) return { effective, sources: [], applied: { model, effort: "high" } }
  const applied = {
    model,
    effort: "medium",
    advisor: null,
    ultracode: false,
    ultracodeRequested: false,
    ultracodeAvailable: true,
    ultrathinkAvailable: false,
    outsideFileToolReadsBlocked: false,
    outsideFileToolWritesBlocked: false,
    outsideBlocksCountLaunchFoldersOnly: false,
    launchEnvLeftOwnFilesInPlace: false,
  }
  return { effective, sources: [], applied }
}

function hooksListing(): Fields {
  const eventCatalog = hookEvents["2.1.325"].map((name) => ({ name, summary: name, supportsMatcher: true }))
  const policy = { disabledByPolicy: false, managedOnly: false, pluginOnly: false, allDisabled: false }
  return { events: [], hooks: [], eventCatalog, policy }
}

function updateSettings({ core, requestId, request }: ControlScope): void {
  const source = textOf(request, "source") ?? ""
  const { settingSources } = core.launch
  const isOff = settingSources !== undefined && !settingSources.includes(source.replace(/Settings$/, ""))
  if (!isOff) return core.wire.success(requestId)
  core.wire.error(requestId, `update_settings: the ${source} source is disabled for this session (--setting-sources)`)
}

function permissionRules(core: AgentCore): Fields {
  const { rules, directories } = core.state.permissions
  const listed = BEHAVIORS.flatMap((behavior) =>
    rules[behavior].map((rule) => ({ behavior, rule: showRule(rule), source: rule.source })),
  )
  const state = { rules: listed, workspaceDirectories: directories, originalCwd: core.launch.cwd, managedOnly: false }
  return { state }
}

async function mcpCall({ core, requestId, request }: ControlScope): Promise<void> {
  const name = textOf(request, "tool") ?? ""
  const target = core.mcp.find(name)
  const server = /^mcp__(.+?)__/.exec(name)?.[1] ?? name
  if (target === undefined) return core.wire.error(requestId, `MCP server not connected: ${server}`)
  const input = fieldOf(request, "arguments") ?? {}
  const signal = new AbortController().signal
  const called = await core.mcp.call({ ...target, input, toolUseId: requestId }, signal)
  if ("failed" in called) return core.wire.error(requestId, called.failed)
  core.wire.success(requestId, { content: called.content, isError: called.isError })
}

function rename({ core, requestId, request }: ControlScope): void {
  const title = textOf(request, "title") ?? ""
  core.state.title = title
  core.transcript.write({ type: "custom-title", customTitle: title, sessionId: core.wire.sessionId })
  core.wire.system("session_title_changed", { title }, "uuid")
  core.wire.success(requestId)
}

function sideQuestion({ core, requestId, request }: ControlScope): void {
  if (core.profile.quirks.tellsRequestProgress) {
    core.wire.system("control_request_progress", { request_id: requestId, status: "started" }, "uuid")
  }
  core.wire.success(requestId, { response: `You asked: ${textOf(request, "question") ?? ""}`, synthetic: false })
}

function plan(core: AgentCore): Fields {
  const path = planFile(core)
  const content = core.toolbox.files.read(path)
  return content === undefined ? { exists: false } : { exists: true, content, path }
}

function status(core: AgentCore): Fields {
  const row = (label: string, value: string) => ({ label, value })
  const session = [
    row("Version", core.profile.version),
    ...(core.state.title === undefined ? [] : [row("Session name", core.state.title)]),
    row("Session ID", core.wire.sessionId),
    row("cwd", core.launch.cwd),
  ]
  const environment = [row("Model", core.state.model)]
  return {
    sections: [
      { title: "Session", rows: session },
      { title: "Environment", rows: environment },
    ],
  }
}

function exported(core: AgentCore): string {
  return core.history.map(({ role, content }) => `${String(role)}: ${JSON.stringify(content)}`).join("\n\n")
}

/** The contents of the context, as `get_context_usage` tells them. */
function contextUsage(core: AgentCore): Fields {
  const { contextWindow } = core.profile.shapes.contextWindow(core.state.model)
  const used = Math.ceil(JSON.stringify(core.history).length / 4)
  const buffer = 33_000
  const { detailsContext } = core.profile.quirks
  const entry = (id: string, name: string, tokens: number, color: string, kind: string) =>
    detailsContext ? { id, name, tokens, color, kind } : { name, tokens, color }
  const percentage = Math.round((used / contextWindow) * 100)
  return {
    categories: [
      entry("messages", "Messages", used, "purple_FOR_SUBAGENTS_ONLY", "used"),
      entry("autocompact_buffer", "Autocompact buffer", buffer, "inactive", "buffer"),
      entry("free_space", "Free space", contextWindow - used - buffer, "promptBorder", "free"),
    ],
    totalTokens: used,
    maxTokens: contextWindow,
    rawMaxTokens: contextWindow,
    autocompactSource: detailsContext ? "model-default" : "auto",
    autoCompactThreshold: contextWindow - buffer,
    percentage,
    gridRows: [],
    model: core.state.model,
    memoryFiles: [],
    mcpTools: [],
    agents: [],
    ...(detailsContext ? { mcpInstructions: [] } : {}),
    ...listings(core),
    isAutoCompactEnabled: true,
    apiUsage: null,
  }
}

/** The lists of its own. They take no tokens: the prompt that would hold them is not there. */
function listings({ profile }: AgentCore): Fields {
  const { commands, skills } = profile.catalog
  const counted = (total: number) => ({ tokens: 0, totalCount: total, includedCount: total })
  return {
    slashCommands: { totalCommands: commands.length, includedCommands: commands.length, tokens: 0 },
    skills: { ...counted(skills.length), skillFrontmatter: [] },
    messageBreakdown: {
      toolCallTokens: 0,
      toolResultTokens: 0,
      attachmentTokens: 0,
      assistantMessageTokens: 0,
      userMessageTokens: 0,
      toolCallsByType: [],
      attachmentsByType: [],
    },
  }
}
