import { readFileSync } from "node:fs"
import { defined } from "@signalbox/protocol/envelope"
import type { TokenCount } from "@signalbox/protocol/usage"
import type {
  AskFacts,
  Bill,
  Catalog,
  ContextWindow,
  Fields,
  McpServerConfig,
  McpServerFacts,
  SessionFacts,
} from "./profile.ts"

// Pieces that all versions write alike, or nearly so.

export function dashed(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-")
}

export function memoryPath(configDir: string, cwd: string): string {
  return `${configDir}/projects/${dashed(cwd)}/memory/`
}

export function tokenFields(usage: TokenCount): Fields {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheCreation,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  }
}

/** The tokens that one call of the model used, with what a version tells besides. */
export function callUsage(usage: TokenCount, more: Fields = {}): Fields {
  return { ...tokenFields(usage), ...SERVER_TOOLS, service_tier: "standard", ...CACHE_CREATION, ...more }
}

const SERVER_TOOLS = { server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 } }
const CACHE_CREATION = { cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 } }

/** `modelUsage`, with what a newer version adds to each model. */
export function modelUsage(
  spending: Bill["spending"],
  windowOf: (model: string) => ContextWindow,
  extra: (model: string) => Fields = () => ({}),
): Fields {
  return Object.fromEntries(
    [...spending].map(([model, spent]) => {
      const { contextWindow, maxOutputTokens } = windowOf(model)
      const fields = {
        inputTokens: spent.input,
        outputTokens: spent.output,
        cacheReadInputTokens: spent.cacheRead,
        cacheCreationInputTokens: spent.cacheCreation,
        webSearchRequests: 0,
        costUSD: spent.costUsd,
        contextWindow,
        maxOutputTokens,
        ...extra(model),
      }
      return [model, fields]
    }),
  )
}

/** The first fields of `system/init`, alike in all but for what is told of an MCP server. */
export function initHead(facts: SessionFacts, tellsSource = false): Fields {
  return {
    type: "system",
    subtype: "init",
    cwd: facts.cwd,
    session_id: facts.sessionId,
    tools: facts.tools,
    mcp_servers: facts.mcpServers.map(({ name, status, source }) => ({
      name,
      status,
      ...(tellsSource ? { source } : {}),
    })),
    model: facts.model,
    permissionMode: facts.permissionMode,
  }
}

/** The fields of a question for permission; each generation adds to the one before it. */
export function askFields(facts: AskFacts, generation: 37 | 120 | 325): Fields {
  const { reason, mcpServer } = facts
  const since = <T>(first: 120 | 325, value: T) => (generation >= first ? value : undefined)
  // The oldest keeps a hook's reason to itself.
  const isKept = generation < 120 && reason?.type === "hook"
  return defined({
    subtype: "can_use_tool",
    tool_name: facts.toolName,
    mcp_server: since(325, mcpServer),
    display_name: since(120, facts.displayName),
    input: facts.input,
    description: since(120, facts.description),
    permission_suggestions: facts.suggestions,
    blocked_path: facts.blockedPath,
    decision_reason: isKept ? undefined : reason?.text,
    decision_reason_type: since(120, reason?.type),
    classifier_approvable: since(325, reason?.type === "safetyCheck" ? true : undefined),
    decision_reason_hook_event: since(325, reason?.hookEvent),
    decision_reason_hook_source: since(325, reason?.hookEvent === undefined ? undefined : "settings"),
    server_policy_ask_only: since(325, facts.policyAskOnly),
    tool_use_id: facts.toolUseId,
    agent_id: facts.agentId,
    requires_user_interaction: since(325, facts.needsUser),
  })
}

/** A server that the agent started or dialled itself, as `mcp_status` tells of it. */
export function ownServerFields(
  { name, status, info, error, tools }: McpServerFacts,
  { config, scope }: NonNullable<McpServerFacts["own"]>,
  generation: 37 | 120 | 325,
): Fields {
  const isConnected = status === "connected"
  const isNewest = generation >= 325
  return defined({
    name,
    status,
    serverInfo: isConnected ? info : undefined,
    error: status === "failed" ? error : undefined,
    config: shownConfig(config, generation),
    transport: isNewest ? config.type : undefined,
    scope,
    source: isNewest ? scope : undefined,
    tools: isConnected ? tools : undefined,
  })
}

/** A server's variables are nobody's business; its headers are not the oldest generation's. */
function shownConfig(config: McpServerConfig, generation: 37 | 120 | 325): Fields {
  if (config.type === "stdio") return defined({ type: config.type, command: config.command, args: config.args })
  return defined({ type: config.type, url: config.url, headers: generation < 120 ? undefined : config.headers })
}

/** A spending of nothing, as a message has it that the CLI speaks in the model's place. */
export const NO_USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  ...SERVER_TOOLS,
  service_tier: null,
  ...CACHE_CREATION,
}

/** Dollars for a million tokens, in and out; a cached token costs a tenth, one written to the cache a quarter more. */
const PRICES: readonly (readonly [RegExp, number, number])[] = [
  [/opus-5/, 4, 20],
  [/fable/, 8, 40],
  [/sonnet-5/, 2, 10],
  [/haiku-5/, 0.1, 0.5],
  [/opus/, 5, 25],
  [/haiku/, 1, 5],
  [/./, 3, 15],
]

export function priceOf(model: string, usage: TokenCount): number {
  const [, input, output] = PRICES.find(([name]) => name.test(model)) ?? [/./, 3, 15]
  const perToken = (dollars: number, tokens: number) => (dollars * tokens) / 1_000_000
  return (
    perToken(input, usage.input) +
    perToken(output, usage.output) +
    perToken(input * 0.1, usage.cacheRead) +
    perToken(input * 1.25, usage.cacheCreation)
  )
}

/** Reads the lists of a version from `catalogs`: names are the wire's, descriptions our own words. */
export function readCatalog(version: string): Catalog {
  return JSON.parse(readFileSync(new URL(`../../catalogs/${version}.json`, import.meta.url), "utf8"))
}
