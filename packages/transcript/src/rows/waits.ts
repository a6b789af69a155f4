import type { Row } from "./row.ts"

interface Span {
  readonly from: number
  readonly to: number
}

/** How long the agent waited for people in a span of time. Requests that were open at once count once. */
export function waitedForPeople(rows: Iterable<Row>, { from, to }: Span): number {
  const spans: Span[] = []
  for (const row of rows) {
    const ask = row.kind === "tool" || row.kind === "ask" ? row.ask : undefined
    if (ask === undefined) continue
    // One that ended otherwise (its process died, it was withdrawn) has no time of its own.
    const isOpen = ask.outcome === "pending"
    const span = { from: Math.max(from, Date.parse(ask.askedAt)), to: isOpen ? to : Date.parse(ask.settledAt ?? "") }
    if (span.to > span.from) spans.push({ from: span.from, to: Math.min(span.to, to) })
  }
  let [waited, end] = [0, Number.NEGATIVE_INFINITY]
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    waited += Math.max(0, span.to - Math.max(span.from, end))
    end = Math.max(end, span.to)
  }
  return waited
}
