import type { EventQuery, FollowItem, HubEvent, HubSession } from "@signalbox/client"
import { afterEach, describe, expect, it, vi } from "vitest"
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
function sessionOf(
  before: (query: EventQuery) => Promise<void>,
  follow: () => AsyncIterable<FollowItem> = async function* () {},
): HubSession {
  const events = async (query: EventQuery) => {
    await before(query)
    const to = Math.min((query.before ?? 1) - 1, LAST_SEQ)
    const from = Math.max(1, to - (query.limit ?? 1) + 1)
    const page = Array.from({ length: to - from + 1 }, (_, index) => say(from + index))
    return { events: page, firstSeq: 1, lastSeq: LAST_SEQ }
  }
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

const speech = (event: object): FollowItem => ({
  type: "delta",
  message: { type: "stream_event", parent_tool_use_id: null, event },
})

describe("what is being said", () => {
  afterEach(() => void vi.unstubAllGlobals())

  it("[X-121] is stale as soon as the connection is lost, not only when it is back", async () => {
    vi.stubGlobal("document", { visibilityState: "visible" })
    let lose = () => {}
    const lost = new Promise<void>((resolve) => {
      lose = resolve
    })
    const follow = async function* (): AsyncIterable<FollowItem> {
      yield speech({ type: "message_start", message: { id: "live" } })
      yield speech({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })
      yield speech({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } })
      await lost
      yield { type: "disconnected", reason: "the hub is gone" }
    }
    const feed = new SessionFeed(
      sessionOf(async () => undefined, follow),
      null,
    )
    const over = feed.open(undefined)
    const last = () => feed.view.get().rows.at(-1)
    await expect.poll(last).toMatchObject({ kind: "text", state: "live", text: "Half" })
    lose()
    await over
    await expect.poll(last).toMatchObject({ kind: "text", state: "stale", text: "Half" })
    feed.close()
  })
})
