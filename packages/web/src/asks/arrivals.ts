import type { Ask } from "@signalbox/client"
import { useEffect, useRef } from "react"
import { announce } from "../app/announcer.tsx"
import { useFleet } from "../app/hub-context.ts"
import type { Fleet } from "../app/hub-store.ts"
import { headingOf } from "../fleet/ask-words.ts"
import { titleOf } from "../fleet/session-words.ts"
import { forgetSettledDrafts } from "./answer/ask-drafts.ts"
import { tellLooking } from "./looking.ts"
import { closeSettled, notifyOf } from "./notifications.ts"
import { soundOf } from "./tone.ts"

export type ArrivalListener = (arrived: readonly Ask[], fleet: Fleet) => void

function tellListeners(arrived: readonly Ask[], { sessions }: Fleet): void {
  const [first] = arrived
  if (first === undefined) return
  const session = sessions.get(first.sessionId)
  const title = session === undefined ? "A session" : titleOf(session)
  announce(
    arrived.length > 1
      ? `${arrived.length} new requests wait for you`
      : `${title} needs you: ${inSentence(headingOf(first))}`,
  )
}

/** "Run a command" as it stands inside a sentence; names stay as they are. */
function inSentence(heading: string): string {
  return /^[A-Z][a-z]+ /.test(heading) && !heading.startsWith("Claude ")
    ? heading.charAt(0).toLowerCase() + heading.slice(1)
    : heading
}

export const ARRIVALS: readonly ArrivalListener[] = [tellListeners, notifyOf, soundOf]

/** Tells of asks that opened while this page was there. What waited already when it came is no news. */
export function useAskArrivals(listeners: readonly ArrivalListener[]): void {
  const fleet = useFleet()
  const known = useRef<Set<string> | undefined>(undefined)
  useEffect(tellLooking, [])
  useEffect(() => forgetSettledDrafts(fleet.asks), [fleet.asks])
  useEffect(() => {
    if (fleet.load.name !== "ready") return
    const ids = [...fleet.asks.values()].filter(({ state }) => state === "pending")
    const before = known.current
    known.current = new Set(ids.map(({ id }) => id))
    closeSettled(fleet)
    if (before === undefined) return
    const arrived = ids.filter(({ id }) => !before.has(id))
    if (arrived.length > 0) for (const listener of listeners) listener(arrived, fleet)
  }, [fleet, listeners])
}
