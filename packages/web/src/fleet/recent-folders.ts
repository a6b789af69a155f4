import type { Hub, RecordedSession, Session } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useFleet, useHub } from "../app/hub-context.ts"
import { whileOpen } from "../app/value-store.ts"

const MAX_FOLDERS = 10

type Worked = Pick<Session, "runner" | "cwd" | "updatedAt" | "worktree">
type Recorded = Pick<RecordedSession, "cwd" | "updatedAt">

/** The folder of a demo agent is nobody's project. */
const DEMO_FOLDER = /[\\/]signalbox-simulator-[^\\/]+$/

/** Folders that were worked in on one machine, the latest first. A worktree is no project: it goes with its session. */
export function recentFolders(
  machine: string | undefined,
  sessions: Iterable<Worked>,
  recorded: readonly Recorded[],
): readonly string[] {
  const here = [...sessions].filter(({ runner, worktree }) => runner === machine && worktree === undefined)
  const sorted = [...here, ...recorded].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  return [...new Set(sorted.flatMap(({ cwd }) => (cwd === null || DEMO_FOLDER.test(cwd) ? [] : cwd)))].slice(
    0,
    MAX_FOLDERS,
  )
}

const NOTHING: readonly RecordedSession[] = []

/** Conversations that plain `claude` recorded on a machine, the latest first. None while it is asked, or when it cannot tell. */
export function useRecorded(machine: string | undefined): readonly RecordedSession[] {
  const hub = useHub()
  const [known, setKnown] = useState({ machine, recorded: NOTHING })
  useEffect(() => {
    if (machine === undefined) return undefined
    return whileOpen(readRecorded(hub, machine), (recorded) => setKnown({ machine, recorded }))
  }, [hub, machine])
  return known.machine === machine ? known.recorded : NOTHING
}

async function readRecorded(hub: Hub, machine: string): Promise<readonly RecordedSession[]> {
  try {
    return (await hub.runners.recorded(machine)).sessions
  } catch {
    return NOTHING
  }
}

export function useRecentFolders(machine: string | undefined, recorded: readonly RecordedSession[]): readonly string[] {
  const { sessions } = useFleet()
  return useMemo(() => recentFolders(machine, sessions.values(), recorded), [machine, sessions, recorded])
}
