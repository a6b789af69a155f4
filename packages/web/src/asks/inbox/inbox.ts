import type { Ask, Session } from "@signalbox/client"

/** What of the inbox is wanted: one kind, one machine. Empty means any. Pure. */
export interface InboxWish {
  readonly kind: string
  readonly machine: string
}

/** The machine of agents that were started by hand. */
export const BY_HAND = "by-hand"

type Sessions = ReadonlyMap<string, Pick<Session, "runner" | "cwd">>

export const KINDS: readonly { readonly value: Ask["kind"]; readonly label: string }[] = [
  { value: "tool", label: "Tools" },
  { value: "question", label: "Questions" },
  { value: "plan", label: "Plans" },
  { value: "elicitation", label: "Forms" },
  { value: "dialog", label: "Dialogs" },
]

/** Reads the address, which anybody can write: an unknown kind counts as none. */
export function wishOf(query: URLSearchParams): InboxWish {
  const kind = query.get("kind") ?? ""
  return { kind: KINDS.some(({ value }) => value === kind) ? kind : "", machine: query.get("machine") ?? "" }
}

export function machineOf(ask: Ask, sessions: Sessions): string | undefined {
  const session = sessions.get(ask.sessionId)
  return session === undefined ? undefined : (session.runner ?? BY_HAND)
}

export function matchesWish(ask: Ask, { kind, machine }: InboxWish, sessions: Sessions): boolean {
  return (kind === "" || ask.kind === kind) && (machine === "" || machineOf(ask, sessions) === machine)
}

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

/** Whose turn it is after one was answered: the one that followed it, else the last that is left. */
export function nextAfter(id: string, before: readonly Ask[], open: readonly Ask[]): Ask | undefined {
  const index = before.findIndex((ask) => ask.id === id)
  const left = new Set(open.map((ask) => ask.id))
  const following = before.slice(index + 1).find((ask) => left.has(ask.id) && ask.id !== id)
  return following ?? open.findLast((ask) => ask.id !== id)
}
