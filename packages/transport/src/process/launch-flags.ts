import type { LaunchOptions } from "@signalbox/protocol/launch-options"
import type { ClaudeFlags } from "./launch-options.ts"

/** The options of a launch that stand on the command line, as flags. */
export function launchFlags(options: LaunchOptions): ClaudeFlags {
  const { thinking, mcpServers, outputFormat } = options
  return {
    maxTurns: options.maxTurns,
    maxBudgetUsd: options.maxBudgetUsd,
    thinking:
      thinking?.type === "enabled" ? { type: "enabled", budgetTokens: thinking.budgetTokens } : kindOf(thinking?.type),
    thinkingDisplay: thinking?.display,
    effort: options.effort,
    betas: options.betas,
    jsonSchema: outputFormat?.schema,
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    mcpConfig: mcpServers === undefined ? undefined : { mcpServers },
    settingSources: options.settingSources,
    additionalDirectories: options.additionalDirectories,
  }
}

function kindOf(type: "adaptive" | "disabled" | undefined): ClaudeFlags["thinking"] {
  return type === undefined ? undefined : { type }
}
