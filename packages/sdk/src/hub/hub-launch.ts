import { type LaunchOptions, launchOptionsIn, optionsOfInitialize } from "@signalbox/protocol/launch-options"
import { mcpConfigOf, numberOf, schemaOf, thinkingOf } from "../launch/flags.ts"
import { systemPromptFields } from "../launch/initialize.ts"
import type { Options } from "../types/options.ts"

/** The options of a launch on a hub: the same that a process here gets by its command line and `initialize`. */
export function hubLaunchOptions(options: Options): LaunchOptions {
  const { agents, mcpServers } = options
  const said = { ...systemPromptFields(options.systemPrompt), agents, jsonSchema: schemaOf(options) }
  const given = {
    ...optionsOfInitialize(said),
    maxTurns: numberOf(options.maxTurns),
    maxBudgetUsd: numberOf(options.maxBudgetUsd),
    allowedTools: options.allowedTools,
    disallowedTools: options.disallowedTools,
    additionalDirectories: options.additionalDirectories,
    settingSources: options.settingSources,
    mcpServers: mcpConfigOf(mcpServers)?.["mcpServers"],
    effort: options.effort,
    thinking: thinkingOf(options),
    betas: options.betas,
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the hub looks at each; here they are what the program gave
  return launchOptionsIn(given as LaunchOptions) ?? {}
}
