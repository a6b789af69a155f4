import type { Ask } from "@signalbox/client"

/** An ask's state, in a word. */
export function outcomeWords(outcome: string): string {
  const words: Readonly<Record<string, string>> = {
    pending: "Waiting for you",
    allowed: "Allowed",
    denied: "Denied",
    expired: "Nobody answered",
    cancelled: "Withdrawn",
    superseded: "Replaced",
    orphaned: "Agent ended",
    settled: "Answered",
  }
  return words[outcome] ?? outcome
}

const VERBS: Readonly<Record<Ask["kind"], readonly [allowed: string, denied: string]>> = {
  tool: ["Allowed", "Denied"],
  question: ["Answered", "Skipped"],
  plan: ["Approved", "Sent back"],
  elicitation: ["Accepted", "Declined"],
  dialog: ["Answered", "Cancelled"],
}

/** What was done to an ask that somebody or some rule answered, by its kind. */
export function outcomeVerb({ kind, state }: Pick<Ask, "kind" | "state">): string {
  if (state !== "allowed" && state !== "denied") return outcomeWords(state)
  return VERBS[kind][state === "allowed" ? 0 : 1]
}
