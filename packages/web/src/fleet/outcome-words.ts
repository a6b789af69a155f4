import type { Ask } from "@signalbox/client"
import { fieldOf, isObject } from "@signalbox/protocol/envelope"

const WORDS: ReadonlyMap<string, string> = new Map([
  ["pending", "Waiting for you"],
  ["allowed", "Allowed"],
  ["denied", "Denied"],
  ["expired", "Nobody answered"],
  ["cancelled", "Withdrawn"],
  ["superseded", "Replaced"],
  ["orphaned", "Agent ended"],
  ["settled", "Answered"],
])

/** An ask's state, in a word. */
export function outcomeWords(outcome: string): string {
  return WORDS.get(outcome) ?? outcome
}

const VERBS: Readonly<Record<Ask["kind"], readonly [allowed: string, denied: string]>> = {
  tool: ["Allowed", "Denied"],
  question: ["Answered", "Skipped"],
  plan: ["Approved", "Sent back"],
  elicitation: ["Accepted", "Declined"],
  dialog: ["Answered", "Cancelled"],
}

interface Settled extends Pick<Ask, "kind"> {
  readonly state: string
  readonly answer?: Ask["answer"] | undefined
}

/** What was done to an ask that somebody or some rule answered, by its kind. */
export function outcomeVerb({ kind, state, answer }: Settled): string {
  if (state !== "allowed" && state !== "denied") return outcomeWords(state)
  // Told to the agent as an answer, and none all the same.
  if (kind === "question" && isSkipped(answer)) return VERBS.question[1]
  return VERBS[kind][state === "allowed" ? 0 : 1]
}

/** Whether an answer to questions says of all of them that they were skipped. */
function isSkipped(answer: Ask["answer"]): boolean {
  const notes = Object.values(fieldOf(fieldOf(answer, "updatedInput"), "annotations") ?? {})
  return notes.length > 0 && notes.every((note) => isObject(note) && note["unanswered"] === "skipped")
}
