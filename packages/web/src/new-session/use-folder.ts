import { type Hub, HubClientError, type RecordedSession } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { whileOpen } from "../app/value-store.ts"

/** A conversation that `claude` recorded on that machine. */
export type Recorded = Pick<RecordedSession, "sessionId" | "summary" | "updatedAt" | "inUse">

interface FolderFacts {
  /** The folders within it. */
  readonly inside: readonly string[]
  readonly recorded: readonly Recorded[]
  readonly isMissing: boolean
}

const NOTHING: FolderFacts = { inside: [], recorded: [], isMissing: false }
/** Somebody who types is not asked about every letter. */
const PAUSE_MS = 300
const MAX_RECORDED = 30

/** A machine's facts about a folder; none while it is asked, and none when it does not answer. */
export function useFolder(machine: string | undefined, path: string): FolderFacts {
  const hub = useHub()
  const [facts, setFacts] = useState<FolderFacts>(NOTHING)
  useEffect(() => {
    setFacts(NOTHING)
    if (machine === undefined || path === "") return undefined
    let stop: (() => void) | undefined
    const timer = setTimeout(() => {
      stop = whileOpen(readFolder(hub, machine, path), setFacts)
    }, PAUSE_MS)
    return () => {
      stop?.()
      clearTimeout(timer)
    }
  }, [hub, machine, path])
  return facts
}

async function readFolder(hub: Hub, machine: string, path: string): Promise<FolderFacts> {
  try {
    const { folders } = await hub.runners.folders(machine, { path })
    const { sessions } = await hub.runners.recorded(machine, { cwd: path })
    // As it was typed: from the home or from the root.
    const inside = folders.map(({ name }) => `${path.replace(/\/+$/, "")}/${name}`)
    return { inside, recorded: sessions.slice(0, MAX_RECORDED), isMissing: false }
  } catch (error) {
    return { ...NOTHING, isMissing: error instanceof HubClientError && error.code === "runner/no-folder" }
  }
}
