import { DEFAULT_MODE, MACHINE_MODE } from "@signalbox/protocol/asking-modes"
import { LISTED_PROMPT } from "@signalbox/protocol/launch-options"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { type ClaudeFlags, claudeArguments, launchFlags } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"

/** The first versions seen to know a flag; older ones end with an error at it. */
const SINCE = {
  replayUserMessages: "1.0.86",
  includePartialMessages: "1.0.109",
  allowBypass: "2.0.77",
  enableAuthStatus: "2.0.77",
  includeHookEvents: "2.1.100",
} as const

/** The first versions seen to take an option. One with a newer part, such as a list of prompts, has its own name here. */
const OPTIONS_SINCE: Readonly<Record<string, string>> = {
  systemPrompt: "2.0.77",
  [LISTED_PROMPT]: "2.1.325",
  appendSystemPrompt: "2.0.77",
  agents: "2.0.77",
  outputFormat: "2.0.77",
  maxBudgetUsd: "2.0.77",
  betas: "2.0.77",
  settingSources: "1.0.128",
  effort: "2.1.45",
  thinking: "2.1.52",
  "thinking.budgetTokens": "2.0.77",
  "thinking.display": "2.1.100",
}

/** Throws the name of what this version would not know, or would silently leave out. */
function requireKnown({ options = {}, initializes = [] }: LaunchSpec, version: string): void {
  const { thinking, ...others } = options
  const ofThinking = thinking && [
    thinking.type === "enabled" && thinking.budgetTokens !== undefined ? "thinking.budgetTokens" : "thinking",
    ...(thinking.display === undefined ? [] : ["thinking.display"]),
  ]
  for (const name of [...Object.keys(others), ...(ofThinking ?? []), ...initializes]) {
    const since = OPTIONS_SINCE[name]
    if (since === undefined || compareVersions(version, since) >= 0) continue
    throw new Refusal(
      "runner/invalid",
      `${name} needs claude ${since} or newer, and this machine has ${version}: leave it out, or update claude`,
    )
  }
}

/** The arguments of an agent that a runner starts. A version that is not known is taken for a new one. */
export function launchArguments(spec: LaunchSpec, version: string | undefined): string[] {
  const knows = (since: string) => version === undefined || compareVersions(version, since) >= 0
  if (version !== undefined) requireKnown(spec, version)
  const isFork = spec.resume !== undefined && spec.fork === true
  const flags: ClaudeFlags = {
    ...launchFlags(spec.options ?? {}),
    print: true,
    permissionPromptTool: "stdio",
    includePartialMessages: knows(SINCE.includePartialMessages),
    replayUserMessages: knows(SINCE.replayUserMessages),
    includeHookEvents: knows(SINCE.includeHookEvents),
    enableAuthStatus: knows(SINCE.enableAuthStatus),
    model: spec.model,
    // Always said: which mode a CLI takes by itself differs between versions.
    permissionMode: spec.permissionMode === MACHINE_MODE ? undefined : (spec.permissionMode ?? DEFAULT_MODE),
    // Asked for by name and never otherwise: with it a later switch into that mode is possible.
    allowDangerouslySkipPermissions: spec.permissionMode === "bypassPermissions" && knows(SINCE.allowBypass),
    resume: spec.resume,
    forkSession: isFork,
    resumeSessionAt: isFork ? spec.resumeAt : undefined,
  }
  return [...claudeArguments(flags), ...(spec.args ?? [])]
}

/** Below zero if the first is older. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number))
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
