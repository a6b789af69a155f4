import type { Ask, Session } from "@signalbox/client"
import { useMemo, useRef } from "react"
import { useNow } from "../app/clock.ts"
import { useFleet, useHubStore } from "../app/hub-context.ts"
import { useValue } from "../app/value-store.ts"
import { openAsks } from "../fleet/ask-words.ts"
import { useMachineNames } from "../fleet/machine-store.tsx"
import { statusOf } from "../fleet/session-status.tsx"
import { isSameEntry, isSameList, type SessionEntry } from "./session-sections.ts"

/** Time alone changes a status only when a machine falls silent: no need to look every second. */
const GRAIN_MS = 5000

export function useEntries({ archived }: { readonly archived: boolean }): readonly SessionEntry[] {
  const { sessions, asks } = useFleet()
  const read = useValue(useHubStore().reads.marks)
  const names = useMachineNames(sessions)
  const grain = Math.floor(useNow() / GRAIN_MS)
  const before = useRef<readonly SessionEntry[]>([])
  const made = useRef(new WeakMap<Session, SessionEntry>())
  return useMemo(() => {
    const oldest = new Map<string, Ask>()
    for (const ask of openAsks(asks)) if (!oldest.has(ask.sessionId)) oldest.set(ask.sessionId, ask)
    const now = (grain + 1) * GRAIN_MS
    const fresh = [...sessions.values()]
      // A session that waits for somebody is in the list, archived or not.
      .filter((session) => archived || !session.archived || session.pendingAsks > 0)
      .map((session) => {
        const entry = {
          session,
          status: statusOf(session, { now, seenSeq: read.get(session.id) }),
          ask: oldest.get(session.id),
          machine: session.runner === null ? undefined : (names.get(session.runner) ?? session.runner.slice(0, 8)),
        }
        // Most of very many have not changed: what is the same is told apart at once.
        const known = made.current.get(session)
        if (known !== undefined && isSameEntry(known, entry)) return known
        made.current.set(session, entry)
        return entry
      })
    // Time goes on without changing anything: the list that is there is not sorted and drawn again.
    if (!isSameList(before.current, fresh)) before.current = fresh
    return before.current
  }, [sessions, asks, read, names, grain, archived])
}
