import type { EventPage, EventQuery } from "../core.ts"
import type { EventLog } from "../store/event-log.ts"

/** Events in `seq` order: after a place, before it, or around it. `more` tells whether the log goes on in that direction. */
export async function readPage(log: EventLog, session: string, query: EventQuery): Promise<EventPage> {
  const { limit } = query
  const { firstSeq, lastSeq } = await log.bounds(session)
  if (query.before !== undefined) {
    const events = await log.read(session, { before: query.before, limit })
    return { events, firstSeq, lastSeq, more: (events[0]?.seq ?? firstSeq) > firstSeq }
  }
  const after = query.around === undefined ? (query.after ?? 0) : Math.max(0, query.around - Math.ceil(limit / 2))
  const events = await log.read(session, { after, limit })
  return { events, firstSeq, lastSeq, more: (events.at(-1)?.seq ?? lastSeq) < lastSeq }
}
