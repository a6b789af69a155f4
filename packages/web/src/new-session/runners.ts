import type { Hub } from "@signalbox/client"

/** A machine that runs agents, as the hub tells of it. */
export interface Runner {
  readonly id: string
  readonly name: string
  readonly connected: boolean
  readonly agents: number
  readonly maxAgents?: number
  readonly cliVersions?: readonly string[]
  readonly hasSimulator?: boolean
}

export async function readRunners(hub: Hub): Promise<readonly Runner[]> {
  const { runners } = await hub.request<{ runners: readonly Runner[] }>({
    method: "GET",
    path: "/api/runners",
    repeatable: true,
  })
  return runners
}

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
export function agentChoices(runner: Runner | undefined): readonly AgentChoice[] {
  if (runner === undefined) return [EXTERNAL]
  const hasClaude = (runner.cliVersions?.length ?? 0) > 0
  const simulator = runner.hasSimulator === false ? [] : [SIMULATOR]
  return [...(hasClaude ? [CLAUDE] : []), ...simulator, ...(hasClaude ? [] : [CLAUDE]), EXTERNAL]
}
