import type { Ask } from "@signalbox/client"
import { useMemo } from "react"
import { useNow } from "../app/clock.ts"
import { useFleet } from "../app/hub-context.ts"
import { keepStored, readStored } from "../app/stored.ts"
import { createValueStore, useValue } from "../app/value-store.ts"
import { openAsks } from "../fleet/ask-words.ts"
import { useMachineNames } from "../fleet/machine-store.tsx"
import { statusOf } from "../fleet/session-status.tsx"
import type { SessionEntry } from "./session-sections.ts"

/** Time alone changes a status only when a machine falls silent: no need to look every second. */
const GRAIN_MS = 5000

export function useEntries({ archived }: { readonly archived: boolean }): readonly SessionEntry[] {
  const { sessions, asks } = useFleet()
  const seenSeqs = useValue(seen)
  const names = useMachineNames(sessions)
  const grain = Math.floor(useNow() / GRAIN_MS)
  return useMemo(() => {
    const oldest = new Map<string, Ask>()
    for (const ask of openAsks(asks)) if (!oldest.has(ask.sessionId)) oldest.set(ask.sessionId, ask)
    const now = (grain + 1) * GRAIN_MS
    return (
      [...sessions.values()]
        // What waits for somebody is in the list, wherever it was put.
        .filter((session) => archived || !session.archived || session.pendingAsks > 0)
        .map((session) => ({
          session,
          status: statusOf(session, { now, seenSeq: seenSeqs[session.id] }),
          ask: oldest.get(session.id),
          machine: session.runner === null ? undefined : (names.get(session.runner) ?? session.runner.slice(0, 8)),
        }))
    )
  }, [sessions, asks, seenSeqs, names, grain, archived])
}

const KEY = "signalbox:seen"
const MAX_KEPT = 500

type Seen = Readonly<Record<string, number>>

function read(): Seen {
  const kept = Object.entries(readStored(KEY) ?? {})
  return Object.fromEntries(kept.filter((entry): entry is [string, number] => typeof entry[1] === "number"))
}

/** The last event of each session that this browser showed: what ended since is "Finished". */
export const seen = createValueStore(read())

addEventListener("storage", ({ key }) => {
  if (key === KEY) seen.set(read())
})

export function markSeen(session: string, seq: number): void {
  const now = seen.get()
  if ((now[session] ?? 0) >= seq) return
  // The one touched last is last: the oldest are forgotten first.
  const { [session]: _, ...others } = now
  const next = Object.fromEntries([...Object.entries(others), [session, seq] as const].slice(-MAX_KEPT))
  seen.set(next)
  keepStored(KEY, next)
}
