import type { HubEvent } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { HeldLog, PageCache } from "../../src/transcript/window/held-log.ts"

const say = (seq: number, lane: string | null = null): HubEvent => ({
  seq,
  at: "2031-01-01T00:00:00Z",
  from: "agent",
  message: {
    type: "assistant",
    parent_tool_use_id: lane,
    message: { id: `m${seq}`, role: "assistant", content: [{ type: "text", text: `text ${seq}` }] },
  },
})
const run = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => say(from + index))
const page = (from: number, to: number, lastSeq: number) => ({ events: run(from, to), firstSeq: 1, lastSeq })
const tool = (seq: number, block: Record<string, unknown>, type: "assistant" | "user"): HubEvent => ({
  seq,
  at: "2031-01-01T00:00:00Z",
  from: "agent",
  message: { type, message: { id: `m${seq}`, role: type, content: [block] } },
})

describe("the part of a log that is held", () => {
  it("says what a page did to it, so that what is in view can stay where it is", () => {
    const log = new HeldLog(null)
    expect(log.takePage(page(301, 500, 500), "elsewhere")).toBe("replaced")
    expect(log.takePage(page(101, 300, 500), "before")).toBe("front")
    expect(log.takeEvent(say(501), 501)).toBe("behind")
    expect(log.takePage(page(1, 50, 501), "elsewhere")).toBe("replaced")
    expect(log.bounds).toEqual({ firstSeq: 1, lastSeq: 501, fromSeq: 1, toSeq: 50 })
    // What happens now does not follow what is held: only its number is known.
    log.takeEvent(say(502), 20)
    expect([log.bounds.lastSeq, log.rows().length, log.isLive]).toEqual([502, 50, false])
  })

  it("grows at both ends by pages that touch or overlap, with nothing twice, and is another one after a jump", () => {
    const log = new HeldLog(null)
    log.takePage(page(50, 60, 100), "elsewhere")
    log.takePage(page(40, 52, 100), "before")
    log.takePage(page(61, 70, 100), "elsewhere")
    expect(log.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 31 }, (_, index) => 40 + index))
    expect([log.isAtHead, log.isAtTail]).toEqual([false, false])
    log.takePage(page(1, 10, 100), "elsewhere")
    expect([log.bounds.fromSeq, log.bounds.toSeq, log.isAtHead]).toEqual([1, 10, true])
  })

  it("takes what happens now where it follows, and drops nothing while it is small", () => {
    const log = new HeldLog(null)
    log.takePage(page(95, 100, 100), "elsewhere")
    expect(log.takeEvent(say(101), 101)).toBe("behind")
    expect([log.bounds.toSeq, log.bounds.lastSeq, log.events.length]).toEqual([101, 101, 7])
    expect(log.takeKept("before")).toBeUndefined()
    const early = new HeldLog(null)
    early.takePage(page(1, 10, 100), "elsewhere")
    early.takeEvent(say(101), 5)
    expect([early.bounds.toSeq, early.bounds.lastSeq, early.events.length]).toEqual([10, 101, 10])
  })

  it("never holds more than 4,000 events: what is far from the reader goes, whatever they do", () => {
    for (const [reader, first] of [
      [10, 1],
      [3990, 1002],
    ] as const) {
      const log = new HeldLog(null)
      log.takePage(page(1, 4000, 4000), "elsewhere")
      log.takeEvent(say(4001), reader)
      expect([log.events.length, log.bounds.fromSeq]).toEqual([3000, first])
      expect(log.rows().some(({ headSeq }) => headSeq === reader)).toBe(true)
    }
  })

  it("has what it let go of at hand", () => {
    const log = new HeldLog(null)
    log.takePage(page(1, 4000, 4000), "elsewhere")
    log.takeEvent(say(4001), 4001)
    expect(log.takeKept("after")).toBeUndefined()
    expect(log.takeKept("before")).toBe("front")
    expect(log.bounds.fromSeq).toBeLessThan(1002)
    expect(new Set(log.rows().map(({ key }) => key)).size).toBe(log.rows().length)
  })

  it("of a sub-agent is whole from its call to its result, wherever the log begins and ends", () => {
    const log = new HeldLog("A")
    const call = tool(10, { type: "tool_use", id: "A", name: "Task", input: {} }, "assistant")
    const result = tool(13, { type: "tool_result", tool_use_id: "A", content: "ok" }, "user")
    log.takePage({ events: [say(11, "A"), say(12, "A")], firstSeq: 1, lastSeq: 900 }, "elsewhere")
    expect([log.isAtHead, log.isAtTail]).toEqual([false, false])
    log.takePage({ events: [call], firstSeq: 1, lastSeq: 900 }, "before")
    log.takePage({ events: [result], firstSeq: 1, lastSeq: 900 }, "elsewhere")
    expect([log.isAtHead, log.isAtTail, log.isLive]).toEqual([true, true, false])
    expect(log.rows().map(({ headSeq }) => headSeq)).toEqual([11, 12])
  })

  it("is nothing any more when the log turns out to be another", () => {
    const log = new HeldLog(null)
    log.takePage(page(1, 100, 100), "elsewhere")
    log.setEnd(150)
    expect([log.events.length, log.isLive]).toEqual([100, false])
    log.setEnd(40)
    expect([log.events.length, log.rows().length]).toEqual([0, 0])
  })
})

describe("pages that were let go of", () => {
  it("are had from either side, once, and the longest unused go first", () => {
    const oneSize = JSON.stringify(say(1000).message).length
    const cache = new PageCache(oneSize * 700)
    cache.keep(run(1001, 1400))
    cache.keep(run(3001, 3200))
    expect(cache.takeBefore(1401)?.[0]?.seq).toBe(1201)
    expect(cache.takeBefore(1401)).toBeUndefined()
    expect(cache.takeAfter(3000)?.at(-1)?.seq).toBe(3200)
    cache.keep(run(5001, 5800))
    expect(cache.takeAfter(1000)).toBeUndefined()
    expect(cache.takeAfter(5600)).toHaveLength(200)
  })
})
