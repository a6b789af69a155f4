import { moment } from "../design/moment.ts"
import type { Machine } from "../fleet/machine.ts"

export type MachineStatus = "online" | "full" | "draining" | "old" | "silent"

type Facts = Pick<Machine, "connected" | "draining" | "agents" | "maxAgents" | "version">

/** The first that holds. `ownVersion` is the hub's: cockpit and hub are one version. */
export function machineStatus(
  { connected, draining, agents, maxAgents, version }: Facts,
  ownVersion: string,
): MachineStatus {
  if (!connected) return "silent"
  if (draining) return "draining"
  if (isOlder(version, ownVersion)) return "old"
  return maxAgents > 0 && agents >= maxAgents ? "full" : "online"
}

export function machineStatusWords(status: MachineStatus, { seenAt }: Pick<Machine, "seenAt">, nowMs: number): string {
  switch (status) {
    case "online":
      return "Online"
    case "full":
      return "Online, full"
    case "draining":
      return "Draining"
    case "old":
      return "Version too old"
    case "silent":
      return `Silent since ${moment(Date.parse(seenAt), nowMs)}`
  }
}

/** Whether the first of two versions such as 0.1.0 comes before the other. What is no version is not told to be old. */
function isOlder(version: string, than: string): boolean {
  const [mine, other] = [partsOf(version), partsOf(than)]
  if (mine === undefined || other === undefined) return false
  for (const [index, part] of mine.entries()) {
    const difference = part - (other[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

function partsOf(version: string): readonly number[] | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  return match?.slice(1).map(Number)
}

/** What kinds of agents it can have, when that is not all of them. */
export function compatibilityNote({
  cliVersions,
  hasSimulator,
}: Pick<Machine, "cliVersions" | "hasSimulator">): string | undefined {
  if (cliVersions.length > 0) return undefined
  return hasSimulator
    ? "No Claude Code was found on this machine: only the simulator runs here. Install it there, or set CLAUDE_BIN."
    : "No Claude Code was found on this machine, and no simulator: nothing runs here. Install it there, or set CLAUDE_BIN."
}
