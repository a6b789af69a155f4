import { useState } from "react"
import { useNow } from "../app/clock.ts"
import { ConnectionPlace } from "../app/connection-place.tsx"
import { useHub, useMe } from "../app/hub-context.ts"
import { useKeys } from "../app/keyboard.ts"
import { Link } from "../app/link.tsx"
import { useScreenTitle } from "../app/screen.tsx"
import { Button } from "../design/button.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { Empty, Notice, Skeleton } from "../design/notice.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { bytes } from "../design/words.ts"
import type { Machine } from "../fleet/machine.ts"
import { refreshMachines, useMachines } from "../fleet/machine-store.tsx"
import { AddMachine } from "./add-machine.tsx"
import { AgentsMeter } from "./agents-meter.tsx"
import { MachineGlyph } from "./machine-glyph.tsx"
import { machineStatus, machineStatusWords } from "./machine-status.tsx"
import { OWN_VERSION } from "./own-version.ts"

export function MachinesScreen() {
  useScreenTitle("Machines")
  const hub = useHub()
  const isAdmin = useMe().role === "admin"
  const machines = useMachines()
  const [isAdding, setAdding] = useState(false)
  useKeys({ j: () => move(1), k: () => move(-1) })
  const add = isAdmin && (
    <Button look="primary" onClick={() => setAdding(true)}>
      <PlusIcon size={16} />
      Add machine
    </Button>
  )
  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div className="mx-auto flex min-h-12 max-w-5xl flex-wrap items-center justify-between gap-2 px-4 py-2 tablet:px-6">
          <h1 className="text-page font-bold">Machines</h1>
          {machines.all.length > 0 && add}
        </div>
      </header>
      <ConnectionPlace />
      <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-5xl px-4 py-3 tablet:px-6">
          {machines.load === "loading" && <Skeleton rows={3} />}
          {machines.load === "failed" && (
            <Notice tone="danger" alert>
              The machines could not be loaded: {machines.why}
              <Button onClick={() => void refreshMachines(hub)}>Retry</Button>
            </Notice>
          )}
          {machines.load === "ready" && machines.all.length === 0 && (
            <Empty action={add}>
              No machine has come yet. A runner brings one: it owns the agents there, and dials this hub.
            </Empty>
          )}
          {machines.all.length > 0 && (
            <ul aria-label="Machines" className="flex flex-col gap-2">
              {machines.all.map((machine) => (
                <MachineCard key={machine.id} machine={machine} />
              ))}
            </ul>
          )}
        </div>
      </div>
      {isAdmin && <AddMachine open={isAdding} onClose={() => setAdding(false)} />}
    </>
  )
}

function move(step: number): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-machine] a")]
  const at = all.findIndex((link) => link === document.activeElement)
  all[at === -1 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]?.focus()
}

function MachineCard({ machine }: { readonly machine: Machine }) {
  const now = useNow()
  const status = machineStatus(machine, OWN_VERSION)
  const { name, host, platform, cliVersions, hasSimulator, freeMemoryBytes, loadAverage, connected } = machine
  const agents =
    cliVersions.length > 0 ? `Claude Code ${cliVersions.join(", ")}` : hasSimulator ? "Simulator only" : "No agents"
  return (
    <li
      data-machine={machine.id}
      className="relative flex flex-col gap-1 rounded-card border border-line bg-surface px-4 py-3 hover:border-edge"
    >
      <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
        <Link
          href={`/machines/${encodeURIComponent(machine.id)}`}
          // The whole card is the link's; what stands over it stays text.
          className="min-w-0 truncate font-medium after:absolute after:inset-0 after:rounded-card"
        >
          <bdi>{oneLine(name, 80)}</bdi>
        </Link>
        <MachineGlyph status={status} words={machineStatusWords(status, machine, now)} />
      </span>
      <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-dense text-text-2">
        <AgentsMeter machine={machine} />
        {freeMemoryBytes !== undefined && <span className="tabular-nums">{bytes(freeMemoryBytes)} free</span>}
        {loadAverage !== undefined && <span className="tabular-nums">load {loadAverage.toFixed(2)}</span>}
        <span>{agents}</span>
        <bdi className="text-text-3">
          {oneLine(host, 60)} · {platform}
        </bdi>
        {!connected && <span className="sr-only">What is shown is what it last said of itself.</span>}
      </span>
    </li>
  )
}
