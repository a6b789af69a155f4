import type { Ask } from "@signalbox/client"

/** What waits for somebody, the longest wait first. */
export function openAsks(asks: ReadonlyMap<string, Ask>, session?: string): readonly Ask[] {
  return [...asks.values()]
    .filter((ask) => ask.state === "pending" && (session === undefined || ask.sessionId === session))
    .sort((a, b) => (a.askedAt < b.askedAt ? -1 : Number(a.askedAt > b.askedAt)) || a.seq - b.seq)
}
