import type { Hub, Runner, Session } from "@signalbox/client"
import { useEffect } from "react"
import { useConnection, useHub } from "../app/hub-context.ts"
import { createValueStore, useSelected, useValue } from "../app/value-store.ts"
import { oneLine } from "../design/visible-text.tsx"
import { shortPath } from "../design/words.ts"

type Machines = { readonly all: readonly Machine[] } & (
  | { readonly load: "loading" | "ready" }
  | { readonly load: "failed"; readonly why: string }
)

/** Machines come and go without a word on the stream: whoever looks at them asks again. */
const POLL_MS = 5000
const machines = createValueStore<Machines>({ load: "loading", all: [] })
/** Names and home directories of machines, by id. They change only when one does: a whole list of sessions may hang on it. */
const names = createValueStore<ReadonlyMap<string, string>>(new Map())
const homes = createValueStore<ReadonlyMap<string, string>>(new Map())
/** Ids whose names were asked for: one that the hub has forgotten has no name any more. */
const asked = new Set<string>()
let reading: Promise<void> | undefined

/** Two who ask at once get one answer. Never fails: what went wrong is part of the state. */
export function refreshMachines(hub: Hub): Promise<void> {
  reading ??= readMachines(hub)
    .then(take, (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      machines.set({ load: "failed", all: machines.get().all, why })
      asked.clear()
    })
    .finally(() => {
      reading = undefined
    })
  return reading
}

function take(all: readonly Machine[]): void {
  machines.set({ load: "ready", all })
  setIfOther(names, new Map(all.map(({ id, name }) => [id, name])))
  setIfOther(homes, new Map(all.flatMap(({ id, home }) => (home === undefined ? [] : [[id, home]]))))
}

function setIfOther(store: typeof names, now: ReadonlyMap<string, string>): void {
  const known = store.get()
  if (known.size !== now.size || [...now].some(([id, value]) => known.get(id) !== value)) store.set(now)
}

let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** Asks again and again, once for all who look. */
function watch(hub: Hub): () => void {
  watchers++
  void refreshMachines(hub)
  timer ??= setInterval(() => {
    if (document.visibilityState === "visible") void refreshMachines(hub)
  }, POLL_MS)
  return () => {
    watchers--
    if (watchers > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** All machines, kept fresh for as long as somebody looks. */
export function useMachines(): Machines {
  const hub = useHub()
  const isLive = useConnection().name === "live"
  useEffect(() => (isLive ? watch(hub) : undefined), [hub, isLive])
  return useValue(machines)
}

function askFor(hub: Hub, id: string | null): void {
  if (id === null || names.get().has(id) || asked.has(id)) return
  asked.add(id)
  void refreshMachines(hub)
}

/** Names of the machines of these sessions, by id. */
export function useMachineNames(
  sessions: ReadonlyMap<string, { readonly runner: string | null }>,
): ReadonlyMap<string, string> {
  const hub = useHub()
  useEffect(() => {
    for (const { runner } of sessions.values()) askFor(hub, runner)
  }, [hub, sessions])
  return useValue(names)
}

/** A machine's name; where nobody can tell, the beginning of its id. */
export function useMachineName(id: string | null): string {
  const name = useOf(names, id)
  const isComing = useSelected(machines, ({ load }) => load === "loading")
  if (id === null) return "External"
  return name ?? (isComing ? "…" : id.slice(0, 8))
}

/** The home directory of a machine, when it is known. */
export function useMachineHome(id: string | null): string | undefined {
  return useOf(homes, id)
}

function useOf(store: typeof names, id: string | null): string | undefined {
  const hub = useHub()
  useEffect(() => askFor(hub, id), [hub, id])
  return useSelected(store, (all) => (id === null ? undefined : all.get(id)))
}

/** A machine, as people say, is a runner to the hub. */
export type Machine = Runner

async function readMachines(hub: Hub): Promise<readonly Machine[]> {
  const runners = await hub.runners.list()
  return runners.toSorted((a, b) => Number(b.connected) - Number(a.connected) || a.name.localeCompare(b.name))
}

/** Makes the token that a new runner shows. The hub tells it this once. */
export async function makeRunnerToken(hub: Hub, name: string): Promise<string> {
  return (await hub.tokens.create({ role: "runner", name })).token
}

/** The machine that a session's agent is on, as people call it. */
export function MachineName({ session }: { readonly session: Pick<Session, "runner"> }) {
  return <bdi>{useMachineName(session.runner)}</bdi>
}

interface FolderNameProps {
  readonly session: Pick<Session, "runner" | "cwd">
  /** So many parts of the path, counted from its end. */
  readonly parts: number
}

/** The folder that a session's agent works in, as people write it on that machine. */
export function FolderName({ session: { runner, cwd }, parts }: FolderNameProps) {
  const home = useMachineHome(runner)
  return <bdi dir="ltr">{cwd === null ? "" : oneLine(shortPath(abbreviateHome(cwd, home), parts), 60)}</bdi>
}

export function abbreviateHome(path: string, home: string | undefined): string {
  const base = home?.replace(/\/$/, "") ?? ""
  if (base === "") return path
  if (path === base) return "~"
  return path.startsWith(`${base}/`) ? `~${path.slice(base.length)}` : path
}
