import type { Ask, Session } from "@signalbox/client"

type Sessions = ReadonlyMap<string, Pick<Session, "cwd">>

/**
 * Open asks of the very same thing: the same tool with the same input in the same folder. Only tools: an answer to a question
 * or a plan is about the talk it stands in.
 */
export function identicalTo(ask: Ask, open: readonly Ask[], sessions: Sessions): readonly Ask[] {
  const folder = sessions.get(ask.sessionId)?.cwd ?? undefined
  if (ask.kind !== "tool" || folder === undefined) return []
  return open.filter(
    (other) =>
      other.id !== ask.id &&
      other.state === "pending" &&
      other.kind === "tool" &&
      other.toolName === ask.toolName &&
      other.inputHash === ask.inputHash &&
      sessions.get(other.sessionId)?.cwd === folder,
  )
}

/** The request to show after one was answered: the one that followed it, else the last that is left. */
export function nextAfter(id: string, before: readonly Ask[], open: readonly Ask[]): Ask | undefined {
  const index = before.findIndex((ask) => ask.id === id)
  const left = new Set(open.map((ask) => ask.id))
  const following = before.slice(index + 1).find((ask) => left.has(ask.id) && ask.id !== id)
  return following ?? open.findLast((ask) => ask.id !== id)
}
