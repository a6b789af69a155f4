import { failureAdvice, type Session } from "@signalbox/client"
import { type Row, waitedForPeople } from "@signalbox/transcript"
import { useEffect, useRef } from "react"
import { announce } from "../app/announcer.tsx"
import { useNow } from "../app/clock.ts"
import { duration, plural } from "../design/words.ts"
import type { SessionStatus } from "../fleet/session-status.tsx"

interface ActivityLineProps {
  readonly session: Session
  readonly status: SessionStatus
  readonly isCompacting: boolean
  /** Tells how long people took to answer, which is not the agent's work. */
  readonly rows: readonly Row[]
}

/** The line under a transcript. It is always there and always as high: nothing moves when work begins or ends. */
export function ActivityLine({ session, status, isCompacting, rows }: ActivityLineProps) {
  const now = useNow()
  const since = session.turnStartedAt === undefined ? undefined : Date.parse(session.turnStartedAt)
  return (
    <p className="mx-auto flex h-7 w-full max-w-4xl shrink-0 items-center px-4 text-dense text-text-3 tabular-nums tablet:px-6">
      {isCompacting && status === "running"
        ? "Compacting…"
        : wordsOf(session, status, since === undefined ? undefined : workedMs(rows, since, now))}
    </p>
  )
}

/** Time since the turn began, without the time in which somebody was waited for. */
function workedMs(rows: readonly Row[], since: number, now: number): number {
  // Rows are in order: those of earlier turns need no looking at.
  const first = rows.findLastIndex((row) => row.at !== "" && Date.parse(row.at) < since)
  return now - since - waitedForPeople(rows.slice(first + 1), { from: since, to: now })
}

function wordsOf(session: Session, status: SessionStatus, workingMs: number | undefined): string {
  switch (status) {
    case "needs-you":
      // The dock below says so.
      return ""
    case "running":
      if (session.state === "idle") return `${plural(session.backgroundTasks ?? 0, "task")} in the background`
      return workingMs === undefined
        ? "Working"
        : `Working · ${duration(Math.max(0, Math.floor(workingMs / 1000) * 1000)).replace(".0 s", " s")}`
    case "starting":
      return session.transport === null ? "Waiting for the agent to connect" : "Starting"
    case "lost":
      return "Machine offline. Continues when it reconnects."
    case "failed": {
      const advice = failureAdvice(session)
      return advice === undefined ? "Failed" : `Failed · ${advice}`
    }
    case "ended":
      return "Ended"
    case "ready":
    case "idle":
      return "Idle"
  }
}

type Facts = Pick<Session, "id" | "turnStartedAt" | "lastResult">

/** News of a session's turn from one record of it to the next, for listeners; undefined when there is none. */
export function turnNews(before: Facts, now: Facts): string | undefined {
  if (before.id !== now.id) return undefined
  const { lastResult } = now
  if (lastResult !== undefined && lastResult.at !== before.lastResult?.at) {
    if (lastResult.interruptedBy !== undefined) return "Turn interrupted"
    return lastResult.isError ? "Turn failed" : "Turn finished"
  }
  return before.turnStartedAt === undefined && now.turnStartedAt !== undefined ? "Turn started" : undefined
}

/** Says when a turn of the session on the screen begins and ends: what it writes meanwhile is not read aloud. */
export function useTurnNews(session: Session | undefined): void {
  const last = useRef<Session | undefined>(undefined)
  useEffect(() => {
    const before = last.current
    last.current = session
    const news = before === undefined || session === undefined ? undefined : turnNews(before, session)
    if (news !== undefined) announce(news)
  }, [session])
}
