import type { Ask } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useConnection, useHubStore } from "../../app/hub-context.ts"

const WEEK_MS = 7 * 86_400_000
const MAX_SHOWN = 500

export interface SettledAsks {
  readonly load: "loading" | "ready" | "failed"
  readonly all: readonly Ask[]
  readonly retry: () => void
}

function settledMs(ask: Ask): number {
  return Date.parse(ask.settledAt ?? ask.askedAt)
}

/** Settled requests of the last seven days, the latest first. */
export function useSettledAsks(isWanted: boolean, live: ReadonlyMap<string, Ask>): SettledAsks {
  const store = useHubStore()
  const isLive = useConnection().name === "live"
  const [past, setPast] = useState<readonly Ask[]>([])
  const [load, setLoad] = useState<SettledAsks["load"]>("loading")
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!isWanted || !isLive) return undefined
    let isOver = false
    const settle = (next: SettledAsks["load"], asks?: readonly Ask[]) => {
      if (isOver) return
      if (asks !== undefined) setPast(asks)
      setLoad(next)
    }
    store.hub.asks({ order: "newest", limit: MAX_SHOWN }).then(
      (asks) => settle("ready", asks),
      () => settle("failed"),
    )
    return () => {
      isOver = true
    }
  }, [store, isWanted, isLive, tries])
  const all = useMemo(() => {
    const known = new Map([...past.map((ask) => [ask.id, ask] as const), ...live])
    const since = Date.now() - WEEK_MS
    return [...known.values()]
      .filter((ask) => ask.state !== "pending" && settledMs(ask) > since)
      .sort((a, b) => settledMs(b) - settledMs(a))
      .slice(0, MAX_SHOWN)
  }, [past, live])
  return { load, all, retry: () => setTries((before) => before + 1) }
}
