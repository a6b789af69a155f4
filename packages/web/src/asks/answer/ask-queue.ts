import type { Ask, Session } from "@signalbox/client"

type Place = Pick<Session, "cwd" | "runner">
type Sessions = ReadonlyMap<string, Place>

/**
 * Open asks of the very same thing: the same tool with the same input in the same folder of the same machine. Only tools: an
 * answer to a question or a plan is about the talk it stands in.
 */
export function identicalTo(ask: Ask, open: readonly Ask[], sessions: Sessions): readonly Ask[] {
  const own = sessions.get(ask.sessionId)
  if (ask.kind !== "tool" || own === undefined || own.cwd === null) return []
  // Nobody knows the machine of an external agent: its folder may be another one of the same name.
  const isSamePlace = (there: Place | undefined) =>
    own.runner !== null && there?.runner === own.runner && there.cwd === own.cwd
  return open.filter(
    (other) =>
      other.id !== ask.id &&
      other.state === "pending" &&
      other.kind === "tool" &&
      other.toolName === ask.toolName &&
      other.inputHash === ask.inputHash &&
      (other.sessionId === ask.sessionId || isSamePlace(sessions.get(other.sessionId))),
  )
}

/** The request to show after one was answered: the one that followed it, else the last that is left. */
export function nextAfter(id: string, before: readonly Ask[], open: readonly Ask[]): Ask | undefined {
  const index = before.findIndex((ask) => ask.id === id)
  const left = new Set(open.map((ask) => ask.id))
  const following = before.slice(index + 1).find((ask) => left.has(ask.id) && ask.id !== id)
  return following ?? open.findLast((ask) => ask.id !== id)
}
