import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { EventLog } from "../store/event-log.ts"

export function numberedEvents(count: number, from = 1): NewEvent[] {
  return Array.from({ length: count }, (_, index) => numberedEvent(from + index))
}

export function numberedEvent(n: number): NewEvent {
  return { at: 1_700_000_000_000 + n, from: "agent", key: `key-${n}`, line: JSON.stringify({ type: "user", n }) }
}

export function seqs(events: readonly { readonly seq: number }[]): number[] {
  return events.map((event) => event.seq)
}

export function upTo(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}

/** The whole log of a session, a page at a time. */
export async function readWhole(log: EventLog, session: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const page = await log.read(session, { after: events.at(-1)?.seq ?? 0, limit: 1000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}
