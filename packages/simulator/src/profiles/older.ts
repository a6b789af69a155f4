import type { CommandInfo, Fields, McpServerFacts, MessageFacts, ResultFacts, SessionFacts, Shapes } from "./profile.ts"
import { initHead, modelUsage, NO_USAGE, ownServerFields, present } from "./shared.ts"

// What 2.1.37 and 2.1.120 write alike, or nearly so. The newest generation writes it in another order.

interface OwnLists {
  readonly commands: readonly CommandInfo[]
  readonly skills: readonly string[]
}

/** What is kept in files stands behind the skills that the version brings along. */
export function commandsWith({ pages }: SessionFacts, { commands, skills }: OwnLists): CommandInfo[] {
  const kept = [...pages.skills, ...pages.commands].map(({ info }) => info)
  return [...commands.slice(0, skills.length), ...kept, ...commands.slice(skills.length)]
}

export function initFields(facts: SessionFacts, own: OwnLists & { version: string }): Fields {
  return {
    ...initHead(facts),
    slash_commands: [...commandsWith(facts, own).map(({ name }) => name), ...facts.mcpPrompts],
    apiKeySource: facts.apiKeySource,
    claude_code_version: own.version,
    output_style: "default",
    agents: facts.agents.map(({ name }) => name),
    skills: [...own.skills, ...facts.pages.skills.map(({ info }) => info.name)],
    plugins: [],
  }
}

/** What stands in a result however it ended, up to where the versions part. */
export function spendingOf(
  facts: ResultFacts,
  { callUsage, contextWindow }: Pick<Shapes, "callUsage" | "contextWindow">,
): Fields {
  return {
    stop_reason: facts.stopReason,
    session_id: facts.sessionId,
    total_cost_usd: facts.totalCostUsd,
    usage: callUsage(facts.usage),
    modelUsage: modelUsage(facts.spending, contextWindow),
    permission_denials: facts.denials,
    ...(facts.structuredOutput === undefined ? {} : { structured_output: facts.structuredOutput }),
  }
}

/** `status` stands after `is_error`, where a version tells it; `common` at the end. */
export function resultFields({ outcome, timing, numTurns }: ResultFacts, common: Fields, status: Fields = {}): Fields {
  const times = { duration_ms: timing.durationMs, duration_api_ms: timing.apiMs }
  if (outcome.kind === "success") {
    const head = { type: "result", subtype: "success", is_error: outcome.apiError !== undefined }
    return { ...head, ...status, ...times, num_turns: numTurns, result: outcome.text, ...common }
  }
  const head = { type: "result", subtype: outcome.subtype, ...times, is_error: outcome.isError }
  return { ...head, num_turns: numTurns, ...common, errors: outcome.errors }
}

/** `timestamp` where a version tells it. */
export function userFields(
  message: Fields,
  facts: Omit<MessageFacts, "timestamp"> & { timestamp?: string },
  extra: Fields,
): Fields {
  const { sessionId, uuid, parent, timestamp } = facts
  const { tool_use_result, isSynthetic } = extra
  const ids = { parent_tool_use_id: parent, session_id: sessionId, uuid }
  return present({ type: "user", message, ...ids, timestamp, tool_use_result, isSynthetic })
}

/** What the CLI speaks in the model's place. */
export function syntheticFields(id: string, text: string, usage: Fields): Fields {
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
export function olderServerFields(facts: McpServerFacts, generation: 37 | 120): Fields {
  if (facts.own !== undefined) return ownServerFields(facts, facts.own, generation)
  const { name, status, tools } = facts
  if (status === "connected") return { name, status, scope: "dynamic", tools }
  return { name, status, scope: status === "pending" ? "dynamic" : "user" }
}

/** The older generations show the API's own body. */
export function rawApiError(error: { status: number; type: string; message: string; requestId: string }): string {
  const body = { type: "error", error: { type: error.type, message: error.message }, request_id: error.requestId }
  return `API Error: ${error.status} ${JSON.stringify(body)}`
}
