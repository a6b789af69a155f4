import type { Session } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { useEffect, useRef } from "react"
import { announce } from "../app/announcer.tsx"

type Facts = Pick<Session, "id" | "turnStartedAt" | "lastResult">

/** What became of a session's turn from one record of it to the next, for whoever listens; undefined when it is no news. */
export function turnNews(before: Facts, now: Facts): string | undefined {
  if (before.id !== now.id) return undefined
  const { lastResult } = now
  if (lastResult !== undefined && textOf(lastResult, "at") !== textOf(before.lastResult, "at")) {
    if (lastResult["interruptedBy"] !== undefined) return "Turn interrupted"
    return lastResult["isError"] === true ? "Turn failed" : "Turn finished"
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
