import type { EventQuery, HubEvent, HubSession } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { SessionFeed } from "../../src/transcript/window/session-feed.ts"

const LAST_SEQ = 1000
/** Where a sub-agent spoke, far from the end. */
const SPOKEN = 150

const say = (seq: number): HubEvent => ({
  seq,
  at: "2031-01-01T00:00:00Z",
  from: "agent",
  message: {
    type: "assistant",
    parent_tool_use_id: seq === SPOKEN ? "sub" : null,
    message: { id: `m${seq}`, role: "assistant", content: [{ type: "text", text: `text ${seq}` }] },
  },
})

/** A log that is read in pages, and in which nothing happens. */
function sessionOf(before: (query: EventQuery) => Promise<void>): HubSession {
  const events = async (query: EventQuery) => {
    await before(query)
    const to = Math.min((query.before ?? 1) - 1, LAST_SEQ)
    const from = Math.max(1, to - (query.limit ?? 1) + 1)
    const page = Array.from({ length: to - from + 1 }, (_, index) => say(from + index))
    return { events: page, firstSeq: 1, lastSeq: LAST_SEQ }
  }
  const follow = async function* () {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a feed needs no more of a session to read pages
  return { events, follow } as unknown as HubSession
}

describe("what is held of a session", () => {
  it("is searched for a sub-agent page by page, also when a page was on its way already", async () => {
    let arrive = () => {}
    const slow = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const asked: (number | undefined)[] = []
    const feed = new SessionFeed(
      sessionOf(async ({ before }) => {
        asked.push(before)
        if (asked.length === 2) await slow
      }),
      "sub",
    )
    await feed.open(undefined)
    const page = feed.loadBefore()
    const looking = feed.lookFurther()
    // Whoever does not wait for it is done by then.
    setImmediate(arrive)
    await Promise.all([page, looking])
    expect(asked.slice(1)).toEqual([801, 601, 401, 201])
    expect(feed.view.get().rows).toHaveLength(1)
  })
})
