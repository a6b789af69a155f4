import { defined } from "@signalbox/protocol/envelope"
import { capabilities } from "@signalbox/protocol/known"
import type {
  Bill,
  ContextWindow,
  Fields,
  MessageFacts,
  OwnPages,
  PluginInfo,
  ResultFacts,
  SessionFacts,
  WireProfile,
} from "./profile.ts"
import { quirks2325 } from "./quirks.ts"
import {
  askFields,
  callUsage,
  initHead,
  memoryPath,
  modelUsage,
  NO_USAGE,
  ownServerFields,
  readCatalog,
  tokenFields,
} from "./shared.ts"

const catalog = readCatalog("2.1.325")

/**
 * The lists of commands, skills and plugins. What is kept in files comes first; what the launch's plugins bring stands
 * behind the first of its own.
 */
function commandsWith(plugins: readonly PluginInfo[], { skills, commands }: OwnPages): Fields[] {
  const byName = commands.toSorted((a, b) => (a.info.name < b.info.name ? -1 : 1))
  const kept = [...skills, ...byName].map(({ info }) => ({ ...info }))
  const own = catalog.commands.map((command): Fields => ({ ...command, builtin: true }))
  const theirs = [...plugins.flatMap(({ commands }) => commands), ...plugins.flatMap(({ skills }) => skills)]
  return [...kept, ...own.slice(0, 1), ...theirs.map((command) => ({ ...command })), ...own.slice(1)]
}

function skillsWith(plugins: readonly PluginInfo[], pages: OwnPages): string[] {
  const [first = "", ...rest] = catalog.skills
  return [
    ...pages.skills.map(({ info }) => info.name),
    first,
    ...plugins.flatMap(({ skills }) => skills.map(({ name }) => name)),
    ...rest,
  ]
}

export function pluginsWith(plugins: readonly PluginInfo[]): Fields[] {
  const theirs = plugins.map(({ name, path, version }) => ({
    name,
    path,
    source: `${name}@inline`,
    ...(version === undefined ? {} : { version }),
  }))
  return [...theirs, ...catalog.plugins]
}

const FAST_MODE = { fast_mode_state: "off", fast_mode_disabled_reason: "sdk_opt_in_required" }

function init(facts: SessionFacts): Fields {
  return {
    ...initHead(facts, true),
    slash_commands: [...commandsWith(facts.plugins, facts.pages).map(({ name }) => name), ...facts.mcpPrompts],
    terminal_slash_commands: catalog.terminalCommands,
    apiKeySource: facts.apiKeySource,
    claude_code_version: "2.1.325",
    output_style: "default",
    agents: facts.agents.map(({ name }) => name),
    skills: skillsWith(facts.plugins, facts.pages),
    plugins: pluginsWith(facts.plugins),
    capabilities,
    analytics_disabled: true,
    product_feedback_disabled: true,
    uuid: facts.uuid,
    memory_paths: { auto: memoryPath(facts.configDir, facts.cwd) },
    original_cwd: facts.cwd,
    additional_directories: facts.directories,
    messaging_socket_path: `/tmp/cc-socks/${facts.pid}.sock`,
    ...FAST_MODE,
    // Models of the generation before know no effort.
    per_turn_effort_active: !/-4-/.test(facts.model),
    ultrathink_available: false,
    ultrathink_typed_raises: false,
    view_mode: "default",
    ...(facts.userUuids.length === 0 ? {} : { user_message_uuids: facts.userUuids }),
  }
}

function initializeReply(facts: SessionFacts): Fields {
  return {
    commands: commandsWith(facts.plugins, facts.pages),
    agents: facts.agents,
    output_style: "default",
    available_output_styles: catalog.outputStyles,
    user_output_styles_dir: `${facts.configDir}/output-styles`,
    models: models(),
    account: { tokenSource: "none", apiKeySource: facts.apiKeySource, apiProvider: "firstParty" },
    pid: facts.pid,
    claude_code_version: "2.1.325",
    current_permission_mode: facts.permissionMode,
    ...(facts.hooksApplied ? { hooks_applied: true } : {}),
    hook_on_failure_supported: true,
    other_hook_ask_outranks_host: true,
    feedback_mode: { kind: "disabled" },
    analytics_disabled: true,
    remote_control_auto_enable: false,
    remote_control_auto_connect_default: false,
    remote_control_available: false,
    remote_control_auto_on_by_default: false,
    ide_rc_auto_enable_gate: false,
    ...FAST_MODE,
    session_state: "idle",
    capabilities: catalog.earlyCapabilities,
  }
}

export function models(): Fields[] {
  return catalog.models.map(({ traits, ...model }) => ({ ...model, ...traits }))
}

const THINKING = { output_tokens_details: { thinking_tokens: 0 } }
const CALL = { inference_geo: "", iterations: [], speed: "standard", fallback_credit: null }

function usageFields({ bill: { turn }, hasUsage }: ResultFacts): Fields {
  // An object that was never filled from a reply keeps the order it was made in.
  return { ...(hasUsage ? tokenFields(turn) : {}), ...THINKING, ...callUsage(turn, CALL) }
}

function contextWindow(model: string): ContextWindow {
  if (/opus-4/.test(model)) return { contextWindow: 1_000_000, maxOutputTokens: 64_000 }
  return /(?:haiku|sonnet)-4/.test(model)
    ? { contextWindow: 200_000, maxOutputTokens: 32_000 }
    : { contextWindow: 1_000_000, maxOutputTokens: 128_000 }
}

function spendingFields(spending: Bill["spending"]): Fields {
  return modelUsage(spending, contextWindow, (model) => ({
    thinkingTokens: 0,
    cacheCreationEphemeral5mInputTokens: 0,
    cacheCreationEphemeral1hInputTokens: 0,
    canonicalModel: model.replace(/-\d{8}$/, ""),
    provider: "firstParty",
    costBasis: "list",
  }))
}

function subagentStats({ counts: { subagents: spawned, subagentsInFront: foreground } }: ResultFacts): Fields {
  return {
    spawned,
    requested: { background: 0, foreground, unset: spawned - foreground },
    started_in_background: 0,
    max_depth: spawned > 0 ? 1 : 0,
    spawned_by_subagents: 0,
    completed: spawned,
    failed: 0,
    killed: { parent: 0, user: 0, system: 0 },
    refused: { depth_limit: 0, concurrency_limit: 0, budget: 0 },
    by_type: {},
  }
}

/** `type` stands in the middle: this generation builds the line from pieces. */
function result(facts: ResultFacts): Fields {
  if (facts.terminalReason === undefined) return localResult(facts)
  const { outcome, timing } = facts
  const succeeded = outcome.kind === "success"
  const apiError = succeeded ? outcome.apiError : undefined
  const timed = succeeded && apiError === undefined && timing.firstTokenMs !== undefined
  return defined({
    duration_api_ms: timing.apiMs,
    stop_reason: facts.stopReason,
    ...accounts(facts),
    terminal_reason: facts.terminalReason,
    ...FAST_MODE,
    origin: facts.origin,
    subagent_stats: subagentStats(facts),
    safety_stops: facts.counts.safetyStops,
    is_error: succeeded ? apiError !== undefined : outcome.isError,
    num_turns: facts.numTurns,
    subtype: succeeded ? "success" : outcome.subtype,
    ...(succeeded
      ? {
          api_error_status: apiError?.status ?? null,
          api_error_type: apiError?.type,
          api_error: apiError?.code,
          result: outcome.text,
          structured_output: facts.structuredOutput,
        }
      : { errors: outcome.errors, user_message_uuid: facts.userUuids.at(-1) }),
    ttft_ms: timed ? timing.firstTokenMs : undefined,
    type: "result",
    duration_ms: timing.durationMs,
    uuid: facts.uuid,
    ttft_stream_ms: timed ? timing.firstTokenMs : undefined,
    time_to_request_ms: timed ? timing.requestMs : undefined,
    first_content_frame_ms: timed ? timing.firstTokenMs : undefined,
    ...numbered(facts),
  })
}

function accounts(facts: ResultFacts): Fields {
  return {
    session_id: facts.sessionId,
    total_cost_usd: facts.bill.totalCostUsd,
    usage: usageFields(facts),
    modelUsage: spendingFields(facts.bill.spending),
    permission_denials: facts.denials,
  }
}

/** A turn in which the model was not asked: a command of the CLI's own, or a message that asks for nothing. */
function localResult(facts: ResultFacts): Fields {
  const { outcome } = facts
  return defined({
    is_error: false,
    duration_api_ms: 0,
    num_turns: facts.numTurns,
    stop_reason: null,
    ...accounts(facts),
    ...FAST_MODE,
    subagent_stats: subagentStats(facts),
    safety_stops: facts.counts.safetyStops,
    subtype: "success",
    result: outcome.kind === "success" ? outcome.text : "",
    local_command: facts.localCommand,
    type: "result",
    duration_ms: facts.timing.durationMs,
    uuid: facts.uuid,
    ...numbered(facts),
  })
}

/** The end of every result. Turns begin at once, so none is queued when one ends. */
function numbered(facts: ResultFacts): Fields {
  return {
    ...markers(facts),
    queued_turn_count: 0,
    result_index: facts.index,
    model_usage_since_last_result: spendingFields(facts.bill.turnSpending),
  }
}

/** Names the host's messages that this result answers, if they carried a uuid. */
function markers({ userUuids, timing, bill, outcome }: ResultFacts): Fields {
  if (userUuids.length === 0) return {}
  // A result that tells of an error names the last one among its own fields.
  if (outcome.kind !== "success") return { user_message_uuids: userUuids }
  const named = { user_message_uuid: userUuids.at(-1), user_message_uuids: userUuids }
  if (timing.requestWallMs === undefined) return named
  return {
    ...named,
    request_sent_wall_ms: timing.requestWallMs,
    first_request_input_tokens: bill.turn.input,
    first_request_cache_read_input_tokens: bill.turn.cacheRead,
  }
}

const said = (type: "assistant" | "user") => (message: Fields, facts: MessageFacts, extra: Fields) => {
  const { sessionId, uuid, parent, timestamp } = facts
  const { agent_id, error, request_id, ...more } = extra
  const ids = { parent_tool_use_id: parent, agent_id, session_id: sessionId, uuid }
  return defined({ type, message, ...ids, timestamp, error, request_id, ...more })
}

export const profile2325: WireProfile = {
  version: "2.1.325",
  generation: 325,
  catalog,
  quirks: quirks2325,
  shapes: {
    init,
    initializeReply,
    result,
    assistant: said("assistant"),
    user: said("user"),
    ask: (facts) => askFields(facts, 325),
    contextWindow,
    callUsage: (usage) => ({ ...THINKING, ...callUsage(usage, CALL) }),
    mcpClient: {
      name: "claude-code",
      title: "Claude Code",
      description: "Anthropic's agentic coding tool",
      websiteUrl: "https://claude.com/claude-code",
      version: "2.1.325",
    },
    mcpServer: (facts) => {
      if (facts.own !== undefined) return ownServerFields(facts, facts.own, 325)
      const { name, status, info, tools } = facts
      return status === "connected"
        ? { name, status, serverInfo: info, transport: "sdk", scope: "dynamic", source: "sdk", tools }
        : { name, status, transport: "sdk", scope: status === "pending" ? "dynamic" : "user", source: "sdk" }
    },
    apiError: ({ status, message }) => `API Error: ${status} ${message}`,
    syntheticMessage: (id, text) => ({
      diagnostics: null,
      id,
      container: null,
      model: "<synthetic>",
      role: "assistant",
      stop_details: null,
      stop_reason: "stop_sequence",
      stop_sequence: "",
      type: "message",
      usage: {
        output_tokens_details: null,
        ...NO_USAGE,
        inference_geo: null,
        iterations: null,
        speed: null,
        fallback_credit: null,
      },
      content: [{ type: "text", text }],
      context_management: null,
    }),
  },
}
