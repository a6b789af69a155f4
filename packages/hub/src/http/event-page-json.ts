import type { EventPage, EventQuery } from "../core.ts"
import type { StoredEvent } from "../model/event.ts"
import { eventFields } from "../model/event-json.ts"

/** A reply is held in memory in one piece; pages of giant lines are cut, and the rest is asked for again. */
const MAX_PAGE_CHARS = 16 * 1024 * 1024

export function eventPageJson(page: EventPage, query: EventQuery, maxChars = MAX_PAGE_CHARS): string {
  const events = withinBound(page.events, query, maxChars)
  const more = page.more || events.length < page.events.length
  const list = events.map((event) => `{${eventFields(event)}}`).join(",")
  return `{"events":[${list}],"firstSeq":${page.firstSeq},"lastSeq":${page.lastSeq},"more":${more}}`
}

/** As many as fit, at least one, without a gap: from where the caller reads on. */
function withinBound(events: readonly StoredEvent[], query: EventQuery, maxChars: number): readonly StoredEvent[] {
  if (query.before !== undefined) {
    const kept = events.slice(-countThatFits(events.toReversed(), maxChars))
    return events.length === 0 ? [] : kept
  }
  if (query.around === undefined) return events.slice(0, countThatFits(events, maxChars))
  const around = query.around
  const from = Math.max(
    events.findIndex((event) => event.seq >= around),
    0,
  )
  const older = events.slice(0, from)
  const newer = events.slice(from)
  const before = countThatFits(older.toReversed(), maxChars / 2)
  return [...older.slice(older.length - before), ...newer.slice(0, countThatFits(newer, maxChars / 2))]
}

function countThatFits(events: readonly StoredEvent[], maxChars: number): number {
  let chars = 0
  const over = events.findIndex((event) => (chars += event.line.length) > maxChars)
  return over === -1 ? events.length : Math.max(over, 1)
}
