import { contextWindowOf } from "./prices.ts"
import type { AgentInfo, CommandInfo, Fields, ModelSpending, UsageNumbers } from "./profile.ts"

// Pieces that all versions write alike, or nearly so.

export function command(
  name: string,
  description: string,
  argumentHint = "",
  ...aliases: readonly string[]
): CommandInfo {
  return { name, description, argumentHint, ...(aliases.length === 0 ? {} : { aliases }) }
}

export function agent(name: string, description: string, model?: string): AgentInfo {
  return { name, description, ...(model === undefined ? {} : { model }) }
}

/** Leaves out what is undefined: on the wire a field is there or it is not. */
export function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export function dashed(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-")
}

export function memoryPath(configDir: string, cwd: string): string {
  return `${configDir}/projects/${dashed(cwd)}/memory/`
}

export function tokenFields(usage: UsageNumbers): Fields {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  }
}

export const SERVER_TOOLS = {
  server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
}
export const CACHE_CREATION = {
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
}

/** `modelUsage`, with what a newer version adds to each model. */
export function modelUsage(
  spending: ReadonlyMap<string, ModelSpending>,
  generation: 37 | 120 | 325,
  extra: (model: string) => Fields = () => ({}),
): Fields {
  return Object.fromEntries(
    [...spending].map(([model, spent]) => {
      const { contextWindow, maxOutputTokens } = contextWindowOf(model, generation)
      const fields = {
        inputTokens: spent.input,
        outputTokens: spent.output,
        cacheReadInputTokens: spent.cacheRead,
        cacheCreationInputTokens: spent.cacheWrite,
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

/** The message of an error that the CLI speaks in the model's place. */
export function syntheticBase(id: string): Fields {
  return { id, container: null, model: "<synthetic>", role: "assistant" }
}

/** The older generations show the API's own body. */
export function rawApiError(error: { status: number; type: string; message: string; requestId: string }): string {
  const body = { type: "error", error: { type: error.type, message: error.message }, request_id: error.requestId }
  return `API Error: ${error.status} ${JSON.stringify(body)}`
}
