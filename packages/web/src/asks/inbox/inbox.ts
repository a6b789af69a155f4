import type { Ask, Session } from "@signalbox/client"

/** The part of the inbox that is wanted: one kind, one machine. Empty means any. Pure. */
export interface InboxWish {
  readonly kind: string
  readonly machine: string
}

/** The machine of agents that were started by hand. */
export const BY_HAND = "by-hand"

type Sessions = ReadonlyMap<string, Pick<Session, "runner">>

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

interface AskGroup {
  readonly session: string
  readonly asks: readonly Ask[]
}

/** Requests by session. The session whose request waits longest comes first, as its requests were asked. */
export function groupBySession(asks: readonly Ask[]): readonly AskGroup[] {
  const groups = new Map<string, Ask[]>()
  for (const ask of asks) {
    const group = groups.get(ask.sessionId)
    if (group === undefined) groups.set(ask.sessionId, [ask])
    else group.push(ask)
  }
  return [...groups].map(([session, own]) => ({ session, asks: own }))
}

const RECEIPT_MS = 3_600_000

/** Requests that people answered lately, the latest first. Rules answer without anybody waiting: they leave no receipt. */
export function receiptsOf(asks: Iterable<Ask>, now: number): readonly Ask[] {
  const at = ({ settledAt }: Ask) => Date.parse(settledAt ?? "")
  return [...asks]
    .filter(
      (ask) =>
        (ask.state === "allowed" || ask.state === "denied") && ask.via !== "policy" && now - at(ask) < RECEIPT_MS,
    )
    .sort((a, b) => at(b) - at(a))
}
