import type { HubEvent } from "@signalbox/protocol/hub-api"
import type { HubSession } from "./hub-session.ts"

const PAGE = 1000

/** Every event up to `lastSeq`, page by page: those that come meanwhile are not waited for. */
export async function* readEvents(
  session: Pick<HubSession, "events">,
  lastSeq: number,
  onRead: (seq: number) => void = () => undefined,
): AsyncGenerator<HubEvent> {
  let after = 0
  while (after < lastSeq) {
    const { events } = await session.events({ after, limit: PAGE })
    const last = events.at(-1)?.seq
    if (last === undefined) return
    for (const event of events) if (event.seq <= lastSeq) yield event
    after = last
    onRead(Math.min(after, lastSeq))
  }
}
