import type { Machine } from "../fleet/machine.ts"

export interface AgentChoice {
  readonly value: "claude" | "simulator" | "external"
  readonly label: string
  readonly note: string
}

const CLAUDE: AgentChoice = { value: "claude", label: "Claude Code", note: "Runs on that machine" }
const SIMULATOR: AgentChoice = {
  value: "simulator",
  label: "Simulator",
  note: "Plays an agent: no account, no network, no cost",
}
const EXTERNAL: AgentChoice = {
  value: "external",
  label: "Started by hand",
  note: "You get a command to paste, for Claude Code up to 2.1.120",
}

/** What can be started there, the likeliest first. Without a `claude` the simulator is. */
export function agentChoices(machine: Machine | undefined): readonly AgentChoice[] {
  if (machine === undefined) return [EXTERNAL]
  const hasClaude = machine.cliVersions.length > 0
  const simulator = machine.hasSimulator ? [SIMULATOR] : []
  return [...(hasClaude ? [CLAUDE] : []), ...simulator, ...(hasClaude ? [] : [CLAUDE]), EXTERNAL]
}

/** Why nothing can be started there now, or how much room it has. */
export function roomOf({ connected, draining, agents, maxAgents }: Machine): {
  readonly isFree: boolean
  readonly words: string
} {
  if (!connected) return { isFree: false, words: "offline" }
  if (draining) return { isFree: false, words: "draining" }
  if (maxAgents === 0) return { isFree: true, words: `${agents} running` }
  const free = Math.max(0, maxAgents - agents)
  return { isFree: free > 0, words: free === 0 ? `full, ${agents} running` : `${free} of ${maxAgents} free` }
}
