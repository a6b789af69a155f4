import { type FormEvent, useEffect, useRef, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useHub, useMe } from "../app/hub-context.ts"
import { useKeys } from "../app/keyboard.ts"
import { Link } from "../app/router.tsx"
import { useRoving } from "../app/roving.ts"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { Button, CopyButton } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { formText, TextField } from "../design/field.tsx"
import { PlusIcon } from "../design/icons.tsx"
import { Empty, Notice, Skeleton, Trouble } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { bytes } from "../design/words.ts"
import { type Machine, makeRunnerToken, refreshMachines, useMachines } from "../fleet/machine-store.tsx"
import { HubList } from "./hub-list.tsx"
import { AgentsMeter, MachineGlyph, machineStatus, machineStatusWords } from "./machine-status.tsx"
import { OWN_VERSION } from "./own-version.ts"

export function MachinesScreen() {
  useScreenTitle("Machines")
  const hub = useHub()
  const isAdmin = useMe().role === "admin"
  const machines = useMachines()
  const [isAdding, setAdding] = useState(false)
  const list = useRoving("[data-machine]")
  useKeys({ j: () => list.step(1), k: () => list.step(-1) })
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
            <Trouble onRetry={() => void refreshMachines(hub)}>Couldn't load machines: {machines.why}</Trouble>
          )}
          {machines.load === "ready" && machines.all.length === 0 && (
            <Empty action={add}>No machines yet. Add one by starting a runner on it.</Empty>
          )}
          {machines.all.length > 0 && (
            <ul ref={list.ref} aria-label="Machines" className="flex flex-col gap-2">
              {machines.all.map((machine) => (
                <MachineCard key={machine.id} machine={machine} />
              ))}
            </ul>
          )}
          <HubList />
        </div>
      </div>
      {isAdmin && <AddMachine open={isAdding} onClose={() => setAdding(false)} />}
    </>
  )
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
      className="relative flex flex-col gap-1 rounded-card border border-line bg-surface px-4 py-3 shadow-control hover:border-rim hover:bg-raised"
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
        {!connected && <span className="sr-only">Last known values.</span>}
      </span>
    </li>
  )
}

type AddMachineProps = { readonly open: boolean; readonly onClose: () => void }

type Step =
  | { readonly name: "asking"; readonly trouble?: string }
  | { readonly name: "making" }
  | { readonly name: "made"; readonly command: string }

function AddMachine({ open, onClose }: AddMachineProps) {
  const [isHeld, setHeld] = useState(false)
  useEffect(() => setHeld(false), [open])
  return (
    <Dialog title="Add machine" open={open} onClose={onClose} isHeld={isHeld} className="max-w-lg">
      {/* Closed, it forgets: the command holds a secret. */}
      {open && <AddMachineBody onClose={onClose} onMade={() => setHeld(true)} />}
    </Dialog>
  )
}

/** Once a command is `made`, closing the dialog would lose it. */
function AddMachineBody({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const hub = useHub()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const [step, setStep] = useState<Step>({ name: "asking" })

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    const name = formText(event.currentTarget, "name")
    if (name === "") return setStep({ name: "asking", trouble: "Enter a name." })
    setStep({ name: "making" })
    try {
      setStep({ name: "made", command: commandFor(name, await makeRunnerToken(hub, name)) })
      onMade()
    } catch (error) {
      setStep({ name: "asking", trouble: error instanceof Error ? error.message : String(error) })
    }
  }

  if (step.name === "made") return <Made command={step.command} onClose={onClose} />
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 px-4 pb-4">
      <p className="text-text-2">A runner on that machine starts agents and connects to this hub. It opens no ports.</p>
      <TextField
        ref={field}
        label="Machine name"
        name="name"
        autoComplete="off"
        maxLength={80}
        error={step.name === "asking" ? step.trouble : undefined}
      />
      <div className="flex justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" aria-disabled={step.name === "making"}>
          Create token
        </Button>
      </div>
    </form>
  )
}

function Made({ command, onClose }: { readonly command: string; readonly onClose: () => void }) {
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      <Notice tone="info">Run this on the machine. It appears here once connected.</Notice>
      <div className="relative">
        <pre
          // A region that scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label="Command"
          className="overflow-x-auto rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense whitespace-pre-wrap"
        >
          {command}
        </pre>
        <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
      </div>
      <p className="text-dense text-text-2">
        The command contains the token and is shown only once. Revoke the token to block the machine.
      </p>
      <div className="flex justify-end">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}

/** Quoted for a shell: a name may hold anything. */
function commandFor(name: string, token: string): string {
  return `SIGNALBOX_TOKEN=${token} npx signalbox runner --hub ${location.origin} --name '${name.replaceAll("'", String.raw`'\''`)}'`
}
