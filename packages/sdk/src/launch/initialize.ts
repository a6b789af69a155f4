import type { HookRegistration } from "@signalbox/protocol"
import { oneText } from "@signalbox/protocol/launch-options"
import type { McpDescription } from "../mcp/manifest.ts"
import type { ControlRequestBody, Options } from "../types/options.ts"
import { schemaOf } from "./flags.ts"

export interface InitializeParts {
  readonly hooks: Readonly<Record<string, readonly HookRegistration[]>> | undefined
  readonly servers: McpDescription
}

/** The first request of a query. Fields without a value do not reach the wire. */
export function initializeRequest(options: Options, parts: InitializeParts): ControlRequestBody {
  return {
    subtype: "initialize",
    hooks: parts.hooks,
    ...parts.servers,
    jsonSchema: schemaOf(options),
    ...systemPromptFields(options.systemPrompt),
    planModeInstructions: options.planModeInstructions,
    toolAliases: options.toolAliases,
    agents: options.agents,
    title: options.title,
    skills: options.skills === "all" ? undefined : options.skills,
    promptSuggestions: options.promptSuggestions,
    agentProgressSummaries: options.agentProgressSummaries,
    forwardSubagentText: options.forwardSubagentText,
    supportedDialogKinds: options.supportedDialogKinds,
    perTaskStopAffordance: options.perTaskStopAffordance,
    plugins: options.pluginDelivery === "initialize" && options.plugins?.length ? options.plugins : undefined,
  }
}

/**
 * Left out means empty, not the CLI's own: that one is asked for by its preset.
 */
export function systemPromptFields(systemPrompt: Options["systemPrompt"] = ""): Record<string, unknown> {
  if (typeof systemPrompt === "string" || Array.isArray(systemPrompt)) return { systemPrompt: oneText(systemPrompt) }
  const systemPromptSnapshot = systemPrompt.snapshot
  if (systemPrompt.type === "custom") return { ...systemPromptFields(systemPrompt.prompt), systemPromptSnapshot }
  const { append, excludeDynamicSections } = systemPrompt
  return { appendSystemPrompt: append, excludeDynamicSections, systemPromptSnapshot }
}
