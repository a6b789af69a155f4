import { type FormEvent, type ReactNode, useMemo, useState } from "react"
import { useNow } from "../app/clock.ts"
import { useCanOperate, useHub, useMe } from "../app/hub-context.ts"
import { Link, navigate, type ScreenProps } from "../app/router.tsx"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { Button } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { formText, TextField } from "../design/field.tsx"
import { BackIcon } from "../design/icons.tsx"
import { Empty, Notice, Skeleton, Trouble } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { bytes, moment, plural } from "../design/words.ts"
import { type Machine, refreshMachines, useMachines } from "../fleet/machine-store.tsx"
import { exitWords, titleOf } from "../fleet/session-words.ts"
import { useEntries } from "../sessions/entries.ts"
import { SessionRow } from "../sessions/session-row.tsx"
import { type SessionEntry, sectionsOf } from "../sessions/session-sections.ts"
import { MachineLog } from "./machine-log.tsx"
import { AgentsMeter, compatibilityNote, MachineGlyph, machineStatus, machineStatusWords } from "./machine-status.tsx"
import { OWN_VERSION } from "./own-version.ts"

export function MachineScreen({ params }: ScreenProps) {
  const hub = useHub()
  const machines = useMachines()
  const machine = machines.all.find(({ id }) => id === params["id"])
  useScreenTitle(machine?.name ?? "Machine")
  if (machine !== undefined) return <OneMachine machine={machine} />
  if (machines.load === "loading") return <Skeleton rows={4} />
  if (machines.load === "failed") {
    return (
      <Empty action={<Button onClick={() => void refreshMachines(hub)}>Retry</Button>}>
        Couldn't load the machine: {machines.why}
      </Empty>
    )
  }
  return (
    <Empty action={<Button onClick={() => navigate("/machines")}>Go to machines</Button>}>Machine not found.</Empty>
  )
}

function OneMachine({ machine }: { readonly machine: Machine }) {
  const now = useNow()
  const isAdmin = useMe().role === "admin"
  const canOperate = useCanOperate()
  const [isRemoving, setRemoving] = useState(false)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const status = machineStatus(machine, OWN_VERSION)
  const note = compatibilityNote(machine)
  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div className="mx-auto flex min-h-12 max-w-5xl flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 tablet:px-6">
          <Link
            href="/machines"
            aria-label="Machines"
            className="flex size-8 items-center justify-center rounded-control text-text-2 hover:bg-sunken coarse:size-11"
          >
            <BackIcon />
          </Link>
          <h1 className="min-w-0 truncate text-page font-bold">
            <bdi>{oneLine(machine.name, 80)}</bdi>
          </h1>
          <MachineGlyph status={status} words={machineStatusWords(status, machine, now)} />
          {isAdmin && <AdminActions machine={machine} onRemove={() => setRemoving(true)} onTrouble={setTrouble} />}
        </div>
      </header>
      <ConnectionPlace />
      <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto flex max-w-5xl flex-col gap-4 px-4 py-4 tablet:px-6">
          <Trouble>{trouble !== undefined && `Couldn't do that: ${trouble}`}</Trouble>
          {status === "draining" && (
            <Notice tone="caution">
              No new agents start here. Running agents finish; then the machine can be stopped safely.
            </Notice>
          )}
          {status === "silent" && (
            <Notice tone="danger">
              Offline since {moment(Date.parse(machine.seenAt), now)}. Its agents may still be running; their output
              arrives when it reconnects.
            </Notice>
          )}
          {status === "old" && (
            <Notice tone="caution">
              Runner {machine.version} is older than this hub ({OWN_VERSION}). Update the runner.
            </Notice>
          )}
          {note !== undefined && <Notice tone="neutral">{note}</Notice>}
          <Facts machine={machine} now={now} />
          <MachineSessions machine={machine} now={now} />
          {canOperate && <MachineLog key={machine.id} machine={machine} now={now} />}
        </div>
      </div>
      {isAdmin && <RemoveMachine machine={machine} open={isRemoving} onClose={() => setRemoving(false)} />}
    </>
  )
}

interface AdminActionsProps {
  readonly machine: Machine
  readonly onRemove: () => void
  readonly onTrouble: (why: string | undefined) => void
}

function AdminActions({ machine: { id, connected, draining }, onRemove, onTrouble }: AdminActionsProps) {
  const hub = useHub()
  async function drain(): Promise<void> {
    try {
      await hub.runners.drain(id, !draining)
      onTrouble(undefined)
    } catch (error) {
      onTrouble(error instanceof Error ? error.message : String(error))
    }
    await refreshMachines(hub)
  }
  return (
    <span className="ms-auto flex gap-2">
      <Button onClick={() => void drain()}>{draining ? "Stop draining" : "Drain"}</Button>
      {!connected && <Button onClick={onRemove}>Remove…</Button>}
    </span>
  )
}

function Facts({ machine, now }: { readonly machine: Machine; readonly now: number }) {
  const { memoryBytes, freeMemoryBytes, loadAverage, cpuPercent, labels, cliVersions, seenAt, connected } = machine
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Agents", <AgentsMeter key="used" machine={machine} brief />],
    ["Agent memory", memoryBytes === undefined ? undefined : bytes(memoryBytes)],
    ["Free memory", freeMemoryBytes === undefined ? undefined : bytes(freeMemoryBytes)],
    ["Agent CPU", cpuPercent === undefined ? undefined : `${Math.round(cpuPercent)} % of a core`],
    ["Load", loadAverage?.toFixed(2)],
    ["Claude Code", cliVersions.length === 0 ? "none found" : cliVersions.join(", ")],
    ["Simulator", machine.hasSimulator ? "yes" : "no"],
    ["Runner", machine.version],
    ["Host", `${oneLine(machine.host, 80)} · ${machine.platform}`],
    ["Labels", labels.length === 0 ? undefined : labels.map((label) => oneLine(label, 40)).join(", ")],
    ["Last seen", connected ? undefined : moment(Date.parse(seenAt), now)],
  ]
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-card border border-line bg-surface p-4 tablet:grid-cols-3 desktop:grid-cols-4">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name} className="min-w-0">
              <dt className="text-meta text-text-3">{name}</dt>
              <dd className="text-dense tabular-nums">{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

const MAX_SESSIONS = 50

function MachineSessions({ machine, now }: { readonly machine: Machine; readonly now: number }) {
  const entries = useEntries({ archived: false })
  const own = useMemo(() => {
    const here = entries.filter(({ session }) => session.runner === machine.id)
    return sectionsOf(here, "status").flatMap((section) => section.entries)
  }, [entries, machine.id])
  const usage = new Map(machine.usage?.map((used) => [used.session, used]))
  return (
    <>
      <MachineErrors entries={own} now={now} />
      <section aria-labelledby="machine-sessions">
        <h2 id="machine-sessions" className="mb-1 text-title font-bold">
          Sessions
        </h2>
        {own.length === 0 && <p className="text-text-2">No sessions here.</p>}
        <div role="list" aria-label="Sessions on this machine" className="-mx-(--row-pad) flex flex-col">
          {own.slice(0, MAX_SESSIONS).map((entry) => {
            const used = usage.get(entry.session.id)
            return (
              <div key={entry.session.id} role="presentation" className="flex items-center gap-2">
                <div role="presentation" className="min-w-0 flex-1">
                  <SessionRow entry={entry} compact={false} current={false} />
                </div>
                {used !== undefined && (
                  <span className="me-(--row-pad) hidden w-32 shrink-0 text-end text-meta text-text-3 tabular-nums tablet:block">
                    {bytes(used.memoryBytes)} · {Math.round(used.cpuPercent)} %
                  </span>
                )}
              </div>
            )
          })}
        </div>
        {own.length > MAX_SESSIONS && (
          <Link href="/sessions?group=machine" className="text-dense text-accent underline">
            All {plural(own.length, "session")}, by machine
          </Link>
        )}
      </section>
    </>
  )
}

const MAX_ERRORS = 10

/** Why agents of a machine ended that should not have. */
function MachineErrors({ entries, now }: { readonly entries: readonly SessionEntry[]; readonly now: number }) {
  const failed = entries.filter(({ status, session }) => status === "failed" && session.exit !== undefined)
  if (failed.length === 0) return null
  return (
    <section aria-labelledby="machine-errors">
      <h2 id="machine-errors" className="mb-1 text-title font-bold">
        Errors
      </h2>
      <ul className="flex flex-col gap-1 text-dense">
        {failed.slice(0, MAX_ERRORS).map(({ session }) => (
          <li key={session.id} className="flex flex-wrap items-baseline gap-x-3">
            <Link href={`/s/${session.id}`} className="font-medium underline">
              <bdi>{titleOf(session)}</bdi>
            </Link>
            <bdi className="text-danger">{exitWords(session.exit)}</bdi>
            <span className="text-meta text-text-3 tabular-nums">{moment(Date.parse(session.updatedAt), now)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

interface RemoveMachineProps {
  readonly machine: Machine
  readonly open: boolean
  readonly onClose: () => void
}

/** Asks for the name: what is typed is what is meant. */
function RemoveMachine({ machine, open, onClose }: RemoveMachineProps) {
  const hub = useHub()
  const [trouble, setTrouble] = useState<string | undefined>(undefined)

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault()
    if (formText(event.currentTarget, "name") !== machine.name.trim()) {
      return setTrouble("That isn't the machine's name.")
    }
    try {
      await hub.runners.forget(machine.id)
      await refreshMachines(hub)
      navigate("/machines", { replace: true })
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
  }

  const close = () => {
    setTrouble(undefined)
    onClose()
  }
  return (
    <Dialog title={`Remove “${machine.name}”?`} open={open} onClose={close} role="alertdialog" className="max-w-md">
      <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3 px-4 pb-4">
        <p className="text-text-2">
          The machine will no longer be listed. Its sessions and history are kept; running sessions stay lost until they
          are stopped. If its runner connects again, the machine is back.
        </p>
        <TextField
          label={`Type ${machine.name} to confirm`}
          name="name"
          autoComplete="off"
          spellCheck={false}
          error={trouble}
        />
        <div className="flex justify-end gap-3">
          <Button onClick={close}>Cancel</Button>
          <Button look="danger" type="submit">
            Remove machine
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
