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
