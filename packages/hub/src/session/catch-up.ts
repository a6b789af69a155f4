import type { Envelope } from "@signalbox/protocol"
import { wireObject } from "../model/event.ts"
import type { KeptSession } from "../model/session-record.ts"
import type { EventLog } from "../store/event-log.ts"
import { foldEvents } from "./session-fold.ts"

const PAGE = { limit: 1_000, maxBytes: 4 * 1024 * 1024 }
const NOTHING: Envelope = { type: "unknown" }

/** The record with what the log has beyond it: it is saved a little later than the events are. */
export async function catchUp(log: EventLog, kept: KeptSession): Promise<KeptSession> {
  const { id } = kept.record
  const { lastSeq } = await log.bounds(id)
  let caughtUp = kept
  while (caughtUp.record.lastSeq < lastSeq) {
    const events = await log.read(id, { after: caughtUp.record.lastSeq, ...PAGE })
    if (events.length === 0) break
    const told = events.map((event) => ({ event, message: wireObject(event.line) ?? NOTHING }))
    caughtUp = foldEvents(caughtUp, told)
  }
  return caughtUp
}
