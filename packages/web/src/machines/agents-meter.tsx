import { plural } from "../design/words.ts"
import type { Machine } from "../fleet/machine.ts"

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
