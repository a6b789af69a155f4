import { classes } from "../design/classes.ts"
import { moment, plural } from "../design/words.ts"
import type { Machine } from "../fleet/machine-store.tsx"

type MachineStatus = "online" | "full" | "draining" | "old" | "silent"

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
  if (status === "silent") return `Offline since ${moment(Date.parse(seenAt), nowMs)}`
  return { online: "Online", full: "Online, full", draining: "Draining", old: "Outdated" }[status]
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

/** A note on the agents that a machine cannot have. */
export function compatibilityNote({
  cliVersions,
  hasSimulator,
}: Pick<Machine, "cliVersions" | "hasSimulator">): string | undefined {
  if (cliVersions.length > 0) return undefined
  return hasSimulator
    ? "Claude Code not found; only the simulator runs here. Install Claude Code, or set CLAUDE_BIN."
    : "No Claude Code and no simulator found. Install Claude Code, or set CLAUDE_BIN."
}

const LOOKS: Readonly<Record<MachineStatus, string>> = {
  online: "text-clear",
  full: "text-caution",
  draining: "text-caution",
  old: "text-caution",
  silent: "text-danger",
}

/** A lamp: lit, half lit, or out. Its words stand beside it. */
export function MachineGlyph({ status, words }: { readonly status: MachineStatus; readonly words: string }) {
  return (
    <span className={classes("inline-flex min-w-0 items-center gap-1.5 text-dense font-medium", LOOKS[status])}>
      <svg
        width="14"
        height="14"
        viewBox="0 0 16 16"
        aria-hidden="true"
        className="shrink-0"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
      >
        <circle cx="8" cy="8" r="5.5" />
        {status !== "silent" && <circle cx="8" cy="8" r="3" fill="currentColor" stroke="none" />}
        {status === "silent" && <path d="m4.2 4.2 7.6 7.6" />}
      </svg>
      {words}
    </span>
  )
}

/** How many agents a machine has of those it may have; the words say it, the bar shows it. `brief`: under a heading. */
export function AgentsMeter({ machine, brief = false }: { readonly machine: Machine; readonly brief?: boolean }) {
  const { agents, maxAgents } = machine
  if (maxAgents === 0) return <span className="tabular-nums">{brief ? agents : plural(agents, "agent")}</span>
  const words = `${agents} of ${brief ? maxAgents : plural(maxAgents, "agent")}`
  const percent = Math.min(100, Math.round((agents / maxAgents) * 100))
  return (
    <span className="flex items-center gap-2">
      <span
        role="meter"
        aria-label="Agents"
        aria-valuenow={Math.min(agents, maxAgents)}
        aria-valuemin={0}
        aria-valuemax={maxAgents}
        aria-valuetext={words}
        className="block h-2 w-16 shrink-0 overflow-hidden rounded-full border border-edge bg-sunken"
      >
        <span className="block h-full bg-accent forced-colors:bg-[Highlight]" style={{ width: `${percent}%` }} />
      </span>
      <span className="tabular-nums">{words}</span>
    </span>
  )
}
