import { type ReactNode, useState } from "react"
import { useHub, useHubStore, useMe } from "../app/hub-context.ts"
import { Link, navigate } from "../app/router.tsx"
import { Button, CopyButton } from "../design/button.tsx"
import { Skeleton, Trouble } from "../design/notice.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { claudeOn, firstMachine } from "../fleet/claude-found.ts"
import { startDemo } from "../fleet/demo.ts"
import { abbreviateHome, type Machine, refreshMachines, useMachines } from "../fleet/machine-store.tsx"
import { useRecentFolders, useRecorded } from "../fleet/recent-folders.ts"

/** A hub that has no sessions yet: one sentence, and two ways to begin. */
export function FirstSteps() {
  const machines = useMachines()
  const hub = useHub()
  const { load, all } = machines
  if (load === "loading") return <Skeleton rows={3} />
  if (load === "failed" && all.length === 0)
    return (
      <div className="p-4">
        <Trouble onRetry={() => void refreshMachines(hub)}>Couldn't load machines: {machines.why}</Trouble>
      </div>
    )
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-8 tablet:py-14">
        <p className="text-title text-balance text-text-2">
          Agents work on your machines. You see what they do here, and they ask you first.
        </p>
        {all.some(({ connected }) => connected) ? (
          <div className="grid items-start gap-4 tablet:grid-cols-2">
            <DemoCard canRun={all.some((one) => one.connected && !one.draining && one.hasSimulator)} />
            <ClaudeCard machine={firstMachine(all)} />
          </div>
        ) : (
          <NoMachine />
        )}
      </div>
    </div>
  )
}

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-3 rounded-card border border-line bg-surface p-5">
      <h2 className="text-title font-bold">{title}</h2>
      {children}
    </section>
  )
}

function DemoCard({ canRun }: { readonly canRun: boolean }) {
  const store = useHubStore()
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly failure?: string }>({ isBusy: false })
  async function start(): Promise<void> {
    if (state.isBusy) return
    setState({ isBusy: true })
    try {
      navigate(`/s/${await startDemo(store)}`)
    } catch (error) {
      setState({ isBusy: false, failure: error instanceof Error ? error.message : String(error) })
    }
  }
  return (
    <Card title="Try a demo agent">
      <p className="text-text-2">
        A scripted agent asks to run a command, and you answer. No account, no folder, nothing is changed.
      </p>
      {state.failure !== undefined && <Trouble>Couldn't start: {state.failure}</Trouble>}
      {canRun ? (
        <Button look="primary" aria-disabled={state.isBusy} onClick={() => void start()} className="self-start">
          {state.isBusy ? "Starting…" : "Try a demo agent"}
        </Button>
      ) : (
        <p className="text-dense text-text-3">No connected machine has the demo agent.</p>
      )}
    </Card>
  )
}

const SHOWN_FOLDERS = 4
const PLAIN_LINK = "rounded-control border border-edge px-3 py-1.5 font-medium hover:bg-sunken"

function ClaudeCard({ machine }: { readonly machine: Machine | undefined }) {
  const recents = useRecentFolders(machine?.id, useRecorded(machine?.id))
  if (machine === undefined) {
    return (
      <Card title="Start Claude Code">
        <p className="text-text-2">No machine takes new agents.</p>
        <Link href="/machines" className={`${PLAIN_LINK} self-start`}>
          Machines
        </Link>
      </Card>
    )
  }
  const { isFound, words, todo, command } = claudeOn(machine)
  const form = (cwd?: string) =>
    `/new?${new URLSearchParams({ runner: machine.id, ...(cwd === undefined ? {} : { cwd }) })}`
  return (
    <Card title="Start Claude Code">
      <p className="text-text-2">{words}</p>
      {todo !== undefined && <Todo words={todo} command={command ?? ""} />}
      {isFound && (
        <>
          <Link href={form()} className={`${PLAIN_LINK} self-start`}>
            {recents.length === 0 ? "Choose a folder" : "Choose another folder"}
          </Link>
          {recents.length > 0 && (
            <ul aria-label="Recent folders" className="-mx-2 flex flex-col">
              {recents.slice(0, SHOWN_FOLDERS).map((path) => (
                <li key={path}>
                  <Link
                    href={form(path)}
                    title={path}
                    className="flex min-h-8 items-center rounded-control px-2 font-mono text-dense text-accent hover:bg-sunken coarse:min-h-11"
                  >
                    <bdi dir="ltr" className="truncate">
                      {oneLine(abbreviateHome(path, machine.home), 80)}
                    </bdi>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Card>
  )
}

function Todo({ words, command }: { readonly words: string; readonly command: string }) {
  return (
    <div className="flex flex-col gap-1.5 text-dense">
      <p>{words}</p>
      <p className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono break-words">
        {command}
        <CopyButton text={command} label="Copy command" className="absolute top-0.5 right-1" />
      </p>
    </div>
  )
}

function NoMachine() {
  const { role } = useMe()
  return (
    <div className="flex flex-col items-start gap-3">
      <p>
        No machine is connected.
        {role === "admin" ? " Connect one, or start an external agent." : " Ask an admin to connect one."}
      </p>
      <div className="flex flex-wrap gap-3">
        {role === "admin" && (
          <Link href="/machines" className={PLAIN_LINK}>
            Machines
          </Link>
        )}
        <Link href="/new" className={PLAIN_LINK}>
          External agent
        </Link>
      </div>
    </div>
  )
}
