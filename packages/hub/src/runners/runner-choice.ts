import type { Runner as RunnerView } from "@signalbox/protocol/hub-api"
import type { AgentUsage, LaunchAgent, RunnerFacts, RunnerToHub } from "@signalbox/protocol/runner-wire"
import { HubError, unknown } from "../errors.ts"
import type { RunnerConnection } from "./runner-connection.ts"

/** A machine that is or was here. */
export interface Runner {
  readonly facts: RunnerFacts
  readonly seenAt: string
  /** Takes no new agents: somebody said so, and it holds until they say otherwise. */
  readonly draining: boolean
  /** Undefined while it is away. */
  readonly here: Here | undefined
}

/** Its control connection, or the way to the hub that has it. */
export type RunnerLine = Pick<RunnerConnection, "request" | "end" | "tokenId">

export interface Here {
  readonly connection: RunnerLine
  /** At which of its connections, if it is connected to another hub. */
  readonly elsewhere?: number
  readonly agents: readonly AgentUsage[]
  readonly stats: Stats | undefined
  /** Launches on their way, which it does not count yet. */
  readonly arriving: number
}

export type Stats = Extract<RunnerToHub, { op: "stats" }>

/** The runner for a launch: the one that is named by its id, name or label; of several the one with most to spare. */
export function chooseRunner(all: readonly Runner[], wanted: string | undefined, agent: LaunchAgent): string {
  const named = wanted === undefined ? all : all.filter((runner) => isCalled(runner, wanted))
  if (wanted !== undefined && named.length === 0)
    throw unknown("runner", wanted, " GET /api/runners lists all runners.")
  const here = named.filter((runner) => runner.here !== undefined)
  if (here.length === 0) throw wanted === undefined ? noRunner() : away(named[0]?.facts.name ?? wanted)
  const open = here.filter(({ draining }) => !draining)
  if (open.length === 0) throw drained(here[0]?.facts.name ?? "")
  // One that cannot says why: better than a reason of ours.
  const able = open.filter((runner) => canRun(runner, agent))
  const [chosen] = (able.length === 0 ? open : able).toSorted(byRoom)
  if (chosen === undefined) throw noRunner()
  return chosen.facts.id
}

export function viewOf({ facts, seenAt, draining, here }: Runner): RunnerView {
  const { id, name, labels, host, platform, version, maxAgents, hasSimulator, claude, home } = facts
  const { claudeProblem, signIn } = facts
  const [found] = claude
  const agents = here?.agents ?? []
  const about = { labels, host, platform, version, maxAgents, hasSimulator, ...(home !== undefined && { home }) }
  const readiness = {
    ...(found !== undefined && { claudePath: found.path }),
    ...(claudeProblem !== undefined && { claudeProblem }),
    ...(signIn !== undefined && { signIn }),
  }
  const cliVersions = [...new Set(claude.map((found) => found.version).filter((found) => found !== ""))]
  const usage = agents.map(({ session, memoryBytes, cpuPercent }) => ({ session, memoryBytes, cpuPercent }))
  const known = {
    id,
    name,
    connected: here !== undefined,
    draining,
    seenAt,
    agents: agents.length,
    ...about,
    ...readiness,
    cliVersions,
  }
  if (here === undefined) return known
  const cpuPercent = agents.reduce((sum, agent) => sum + agent.cpuPercent, 0)
  const memoryBytes = agents.reduce((sum, agent) => sum + agent.memoryBytes, here.stats?.memoryBytes ?? 0)
  const { stats } = here
  const machine = stats && { freeMemoryBytes: stats.freeMemoryBytes, loadAverage: stats.loadAverage }
  return { ...known, ...machine, memoryBytes, cpuPercent, usage }
}

function isCalled({ facts }: Runner, wanted: string): boolean {
  return facts.id === wanted || facts.name === wanted || facts.labels.includes(wanted)
}

function canRun({ facts }: Runner, agent: LaunchAgent): boolean {
  if (agent === "simulator") return facts.hasSimulator
  return agent !== "claude" || facts.claude.length > 0
}

/** Those with room first, then those with the fewest agents. */
function byRoom(one: Runner, other: Runner): number {
  const [first, second] = [loadOf(one), loadOf(other)]
  return Number(first.isFull) - Number(second.isFull) || first.agents - second.agents
}

function loadOf({ facts, here }: Runner): { isFull: boolean; agents: number } {
  const agents = (here?.agents.length ?? 0) + (here?.arriving ?? 0)
  return { agents, isFull: facts.maxAgents > 0 && agents >= facts.maxAgents }
}

function noRunner(): HubError {
  return new HubError(
    "runner/none",
    'no runner is connected: start one with "signalbox runner", or make the session with agent "external"',
  )
}

function drained(name: string): HubError {
  return new HubError("runner/draining", `the runner ${name} takes no new agents now: choose another, or open it again`)
}

export function away(name: string): HubError {
  return new HubError("runner/away", `the runner ${name} is not connected: start it, or choose another`)
}
