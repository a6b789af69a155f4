import { readFileSync } from "node:fs"
import type { LaunchRequest } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import type { Command } from "commander"
import { collect } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

/** The options of a launch beyond folder, model and mode, as flags. Each has `claude`'s own name where `claude` has one. */
export interface LaunchOptionFlags {
  readonly systemPrompt?: string
  readonly appendSystemPrompt?: string
  readonly agents?: string
  readonly jsonSchema?: string
  readonly maxTurns?: string
  readonly maxBudgetUsd?: string
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  readonly addDir: readonly string[]
  readonly settingSources?: string
  readonly mcpConfig?: string
  readonly effort?: string
  readonly thinking?: string
  readonly beta: readonly string[]
}

export function addLaunchOptions(command: Command): Command {
  return command
    .option("--system-prompt <text>", "in the place of the agent's own system prompt")
    .option("--append-system-prompt <text>", "added to its system prompt")
    .option("--agents <json>", "sub-agents by name: JSON, or a file with it")
    .option("--json-schema <json>", "what its results must look like: JSON, or a file with it")
    .option("--max-turns <n>", "stop after so many turns of the model")
    .option("--max-budget-usd <usd>", "stop when it has cost so much")
    .option("--allowed-tools <rule>", "a tool that is not asked about (repeatable; admin)", collect, [])
    .option("--disallowed-tools <rule>", "a tool that it does not have (repeatable)", collect, [])
    .option("--add-dir <directory>", "one more folder that it may use (repeatable; admin)", collect, [])
    .option("--setting-sources <list>", "settings files to read: user,project,local, or an empty text for none (admin)")
    .option("--mcp-config <json>", "MCP servers: JSON, or a file with it (admin, if one starts a process)")
    .option("--effort <level>", "low, medium, high, …")
    .option("--thinking <how>", "adaptive, disabled, or a number of tokens")
    .option("--beta <name>", "a beta of the API (repeatable)", collect, [])
}

/** Throws what is wrong with them, before a hub is looked for. */
export function readLaunchOptions(flags: LaunchOptionFlags): Partial<LaunchRequest> {
  const { systemPrompt, appendSystemPrompt, agents, jsonSchema, maxTurns, maxBudgetUsd, settingSources } = flags
  const { mcpConfig, effort, thinking, allowedTools, disallowedTools, addDir, beta } = flags
  const sources = settingSources === "" ? [] : settingSources?.split(",")
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(appendSystemPrompt === undefined ? {} : { appendSystemPrompt }),
    ...(agents === undefined ? {} : { agents: objectsIn("--agents", objectIn("--agents", agents)) }),
    ...(jsonSchema === undefined
      ? {}
      : { outputFormat: { type: "json_schema", schema: objectIn("--json-schema", jsonSchema) } }),
    ...(maxTurns === undefined ? {} : { maxTurns: amount("--max-turns", maxTurns) }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd: amount("--max-budget-usd", maxBudgetUsd) }),
    ...(allowedTools.length === 0 ? {} : { allowedTools }),
    ...(disallowedTools.length === 0 ? {} : { disallowedTools }),
    ...(addDir.length === 0 ? {} : { additionalDirectories: addDir }),
    ...(sources === undefined ? {} : { settingSources: sources }),
    ...(mcpConfig === undefined ? {} : { mcpServers: serversIn(mcpConfig) }),
    ...(effort === undefined ? {} : { effort }),
    ...(thinking === undefined ? {} : { thinking: thinkingIn(thinking) }),
    ...(beta.length === 0 ? {} : { betas: beta }),
  }
}

type Fields = Readonly<Record<string, unknown>>

function serversIn(text: string): Readonly<Record<string, Fields>> {
  const config = objectIn("--mcp-config", text)
  const servers: unknown = config["mcpServers"] ?? config
  return objectsIn("--mcp-config", isObject(servers) ? servers : {})
}

function thinkingIn(text: string): NonNullable<LaunchRequest["thinking"]> {
  if (text === "adaptive" || text === "disabled") return { type: text }
  return { type: "enabled", budgetTokens: amount("--thinking", text) }
}

function amount(flag: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value
  throw usageError(`${flag} ${text}: give a number above 0`)
}

function objectIn(flag: string, text: string): Fields {
  const isInline = text.trimStart().startsWith("{")
  try {
    const value: unknown = JSON.parse(isInline ? text : readFileSync(text, "utf8"))
    if (isObject(value)) return value
  } catch (error) {
    throw usageError(`${flag}: ${isInline ? "this is no JSON" : `${text} cannot be read as JSON`} (${reason(error)})`)
  }
  throw usageError(`${flag}: give a JSON object, or a file with one`)
}

function objectsIn(flag: string, value: Fields): Readonly<Record<string, Fields>> {
  const named: Record<string, Fields> = {}
  for (const [name, item] of Object.entries(value)) {
    if (!isObject(item)) throw usageError(`${flag}: ${name} is no JSON object`)
    named[name] = item
  }
  return named
}

function reason(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error)
}
