import { type Ask, HubClientError } from "@signalbox/client"
import { useCallback, useEffect, useMemo, useState } from "react"
import { useFleet, useHub, useWho } from "../../app/hub-context.ts"
import { Link } from "../../app/router.tsx"
import { classes } from "../../design/classes.ts"
import { Empty, Skeleton, Trouble } from "../../design/notice.tsx"
import { clockTime } from "../../design/words.ts"
import { isCommand, outcomeVerb, summaryOf } from "../../fleet/ask-words.ts"
import type { PanelProps } from "./session-panels.tsx"

/** Everything this session asked, and what came of it. */
export function AsksPanel({ session }: PanelProps) {
  const hub = useHub()
  const { asks } = useFleet()
  const who = useWho()
  const [past, setPast] = useState<readonly Ask[] | undefined>(undefined)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const load = useCallback(() => {
    setTrouble(undefined)
    hub.asks({ session: session.id }).then(setPast, (error: unknown) => {
      setTrouble(error instanceof HubClientError ? error.message : String(error))
    })
  }, [hub, session.id])
  useEffect(load, [load])
  const all = useMemo(() => {
    const known = new Map(past?.map((ask) => [ask.id, ask]))
    for (const ask of asks.values()) if (ask.sessionId === session.id) known.set(ask.id, ask)
    return [...known.values()].sort((a, b) => b.seq - a.seq)
  }, [past, asks, session.id])
  if (trouble !== undefined) return <Trouble onRetry={load}>Couldn't load requests: {trouble}</Trouble>
  if (past === undefined) return <Skeleton rows={3} />
  if (all.length === 0) return <Empty>No requests yet.</Empty>
  return (
    <ul className="flex flex-col">
      {all.map((ask) => (
        <li key={ask.id} className="border-b border-line py-2">
          <Link href={`/requests/${ask.id}`} className="flex flex-col gap-0.5 rounded-control">
            <bdi className={classes("truncate", isCommand(ask) ? "font-mono text-meta" : "text-dense")}>
              {summaryOf(ask)}
            </bdi>
            <span className="text-meta text-text-3">
              {outcomeVerb(ask)}
              {ask.settledBy === undefined ? "" : ` by ${who(ask.settledBy)}`} ·{" "}
              {clockTime(Date.parse(ask.settledAt ?? ask.askedAt))}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
