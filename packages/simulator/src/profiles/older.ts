import { defined } from "@signalbox/protocol/envelope"
import type {
  Catalog,
  CommandInfo,
  Fields,
  McpServerFacts,
  MessageFacts,
  ResultFacts,
  SessionFacts,
  Shapes,
  WireProfile,
} from "./profile.ts"
import { quirks2120, quirks2137 } from "./quirks.ts"
import {
  askFields,
  callUsage,
  initHead,
  memoryPath,
  modelUsage,
  NO_USAGE,
  ownServerFields,
  readCatalog,
} from "./shared.ts"

// 2.1.37 and 2.1.120 write these alike, or nearly so. The newest generation writes it in another order.

/** Skills and commands in files stand behind the skills that the version brings along. */
function commandsWith({ pages }: SessionFacts, { commands, skills }: Catalog): CommandInfo[] {
  const kept = [...pages.skills, ...pages.commands].map(({ info }) => info)
  return [...commands.slice(0, skills.length), ...kept, ...commands.slice(skills.length)]
}

function modelsIn({ models }: Catalog): Fields[] {
  return models.map(({ value, displayName, description, traits }) => ({ value, displayName, description, ...traits }))
}

function initFields(facts: SessionFacts, { version, catalog }: Pick<WireProfile, "version" | "catalog">): Fields {
  return {
    ...initHead(facts),
    slash_commands: [...commandsWith(facts, catalog).map(({ name }) => name), ...facts.mcpPrompts],
    apiKeySource: facts.apiKeySource,
    claude_code_version: version,
    output_style: "default",
    agents: facts.agents.map(({ name }) => name),
    skills: [...catalog.skills, ...facts.pages.skills.map(({ info }) => info.name)],
    plugins: [],
  }
}

/** The fields of every result, however it ended, up to where the versions part. */
function spendingOf(
  facts: ResultFacts,
  { callUsage, contextWindow }: Pick<Shapes, "callUsage" | "contextWindow">,
): Fields {
  return {
    stop_reason: facts.stopReason,
    session_id: facts.sessionId,
    total_cost_usd: facts.bill.totalCostUsd,
    usage: callUsage(facts.bill.turn),
    modelUsage: modelUsage(facts.bill.spending, contextWindow),
    permission_denials: facts.denials,
    ...(facts.structuredOutput === undefined ? {} : { structured_output: facts.structuredOutput }),
  }
}

/** `status` stands after `is_error`, where a version tells it; `common` at the end. */
function resultFields({ outcome, timing, numTurns }: ResultFacts, common: Fields, status: Fields = {}): Fields {
  const times = { duration_ms: timing.durationMs, duration_api_ms: timing.apiMs }
  if (outcome.kind === "success") {
    const head = { type: "result", subtype: "success", is_error: outcome.apiError !== undefined }
    return { ...head, ...status, ...times, num_turns: numTurns, result: outcome.text, ...common }
  }
  const head = { type: "result", subtype: outcome.subtype, ...times, is_error: outcome.isError }
  return { ...head, num_turns: numTurns, ...common, errors: outcome.errors }
}

/** `timestamp` where a version tells it. */
function userFields(
  message: Fields,
  facts: Omit<MessageFacts, "timestamp"> & { timestamp?: string },
  extra: Fields,
): Fields {
  const { sessionId, uuid, parent, timestamp } = facts
  const { tool_use_result, isSynthetic } = extra
  const ids = { parent_tool_use_id: parent, session_id: sessionId, uuid }
  return defined({ type: "user", message, ...ids, timestamp, tool_use_result, isSynthetic })
}

/** A message that the CLI speaks in the model's place. */
function syntheticFields(id: string, text: string, usage: Fields): Fields {
  return {
    id,
    container: null,
    model: "<synthetic>",
    role: "assistant",
    stop_reason: "stop_sequence",
    stop_sequence: "",
    type: "message",
    usage: { ...NO_USAGE, ...usage },
    content: [{ type: "text", text }],
    context_management: null,
  }
}

/** A server that lives in the host says little; one of the agent's own, what it is. */
function olderServerFields(facts: McpServerFacts, generation: 37 | 120): Fields {
  if (facts.own !== undefined) return ownServerFields(facts, facts.own, generation)
  const { name, status, tools } = facts
  if (status === "connected") return { name, status, scope: "dynamic", tools }
  return { name, status, scope: status === "pending" ? "dynamic" : "user" }
}

/** The older generations show the API's own body. */
function rawApiError(error: { status: number; type: string; message: string; requestId: string }): string {
  const body = { type: "error", error: { type: error.type, message: error.message }, request_id: error.requestId }
  return `API Error: ${error.status} ${JSON.stringify(body)}`
}

/** CLI 2.1.37, the generation of the seed documents. */
export const profile2137: WireProfile = {
  version: "2.1.37",
  generation: 37,
  dial: "cli2137",
  catalog: readCatalog("2.1.37"),
  quirks: quirks2137,
  shapes: {
    init: (facts) => ({ ...initFields(facts, profile2137), uuid: facts.uuid }),
    initializeReply: (facts) => ({
      commands: commandsWith(facts, profile2137.catalog),
      output_style: "default",
      available_output_styles: profile2137.catalog.outputStyles,
      models: modelsIn(profile2137.catalog),
      account: { tokenSource: "none", apiKeySource: facts.apiKeySource },
    }),
    result: (facts) => resultFields(facts, { ...spendingOf(facts, profile2137.shapes), uuid: facts.uuid }),
    assistant: (message, { sessionId, uuid, parent }, { error }) =>
      defined({ type: "assistant", message, parent_tool_use_id: parent, session_id: sessionId, uuid, error }),
    user: (message, { sessionId, uuid, parent }, extra) => userFields(message, { sessionId, uuid, parent }, extra),
    ask: (facts) => askFields(facts, 37),
    contextWindow: (model) => ({ contextWindow: 200_000, maxOutputTokens: /opus/.test(model) ? 32_000 : 64_000 }),
    callUsage,
    mcpClient: { name: "claude-code", version: "2.1.37" },
    mcpServer: (facts) => olderServerFields(facts, 37),
    apiError: rawApiError,
    syntheticMessage: (id, text) => syntheticFields(id, text, {}),
  },
}

function result2120(facts: ResultFacts): Fields {
  const { outcome, terminalReason } = facts
  const isOverBudget = outcome.kind === "error" && outcome.subtype === "error_max_budget_usd"
  const common = {
    ...spendingOf(facts, profile2120.shapes),
    // An error of the API is a turn that came to its end, here.
    ...(terminalReason === undefined || isOverBudget
      ? {}
      : { terminal_reason: terminalReason === "api_error" ? "completed" : terminalReason }),
    fast_mode_state: "off",
    uuid: facts.uuid,
  }
  const apiError = outcome.kind === "success" ? outcome.apiError : undefined
  return resultFields(facts, common, terminalReason === undefined ? {} : { api_error_status: apiError?.status ?? null })
}

/** CLI 2.1.120, the last that dials an address of ours. */
export const profile2120: WireProfile = {
  version: "2.1.120",
  generation: 120,
  dial: "cli2120",
  catalog: readCatalog("2.1.120"),
  quirks: quirks2120,
  shapes: {
    ...profile2137.shapes,
    init: (facts) => ({
      ...initFields(facts, profile2120),
      analytics_disabled: true,
      uuid: facts.uuid,
      memory_paths: { auto: memoryPath(facts.configDir, facts.cwd) },
      fast_mode_state: "off",
    }),
    initializeReply: (facts) => ({
      commands: commandsWith(facts, profile2120.catalog),
      agents: facts.agents,
      output_style: "default",
      available_output_styles: profile2120.catalog.outputStyles,
      models: modelsIn(profile2120.catalog),
      account: { tokenSource: "none", apiKeySource: facts.apiKeySource, apiProvider: "firstParty" },
      pid: facts.pid,
    }),
    result: result2120,
    user: userFields,
    ask: (facts) => askFields(facts, 120),
    mcpServer: (facts) => olderServerFields(facts, 120),
    contextWindow: (model) =>
      /opus/.test(model)
        ? { contextWindow: 1_000_000, maxOutputTokens: 64_000 }
        : { contextWindow: 200_000, maxOutputTokens: 32_000 },
    callUsage: (usage) => callUsage(usage, { inference_geo: "", iterations: [], speed: "standard" }),
    mcpClient: {
      name: "claude-code",
      title: "Claude Code",
      version: "2.1.120",
      description: "Anthropic's agentic coding tool",
      websiteUrl: "https://claude.com/claude-code",
    },
    syntheticMessage: (id, text) => syntheticFields(id, text, { inference_geo: null, iterations: null, speed: null }),
  },
}
