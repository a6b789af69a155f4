import type { HubEvent } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { stepOutgoing } from "../../src/session/composer/outgoing.ts"
import {
  emptyWindow,
  fromSeq,
  isAtHead,
  isAtTail,
  toSeq,
  trimmed,
  withLive,
  withPage,
} from "../../src/transcript/window/event-window.ts"

const event = (seq: number): HubEvent => ({ seq, at: "", from: "agent", message: { type: "x" } })
const page = (from: number, to: number, lastSeq: number) => ({
  events: Array.from({ length: to - from + 1 }, (_, index) => event(from + index)),
  firstSeq: 1,
  lastSeq,
})

describe("the window into a log", () => {
  it("grows at both ends by pages that touch or overlap, with nothing twice", () => {
    const window = withPage(withPage(withPage(emptyWindow(), page(50, 60, 100)), page(40, 52, 100)), page(61, 70, 100))
    expect(window.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 31 }, (_, index) => 40 + index))
    expect([isAtHead(window), isAtTail(window)]).toEqual([false, false])
  })

  it("is another one after a jump", () => {
    const window = withPage(withPage(emptyWindow(), page(50, 60, 100)), page(1, 10, 100))
    expect([fromSeq(window), toSeq(window), isAtHead(window)]).toEqual([1, 10, true])
  })

  it("takes what happens now only where it follows, and knows how far the log goes in any case", () => {
    const tail = withPage(emptyWindow(), page(95, 100, 100))
    expect(withLive(tail, event(101))).toMatchObject({ isHeld: true, window: { lastSeq: 101 } })
    const early = withPage(emptyWindow(), page(1, 10, 100))
    expect(withLive(early, event(101))).toMatchObject({ isHeld: false, window: { lastSeq: 101 } })
  })

  it("never holds more than its bound: the far end goes", () => {
    const window = withPage(emptyWindow(), page(1, 6500, 6500))
    const [head, tail] = [trimmed(window, "head"), trimmed(window, "tail")]
    expect([toSeq(head?.window ?? window), head?.dropped.map(({ seq }) => seq).at(0)]).toEqual([3000, 3001])
    expect([fromSeq(tail?.window ?? window), tail?.dropped.map(({ seq }) => seq).at(-1)]).toEqual([3501, 3500])
    expect(trimmed(withPage(emptyWindow(), page(1, 100, 100)), "tail")).toBeUndefined()
  })
})

describe("a message on its way", () => {
  const sent = stepOutgoing([], { type: "send", message: { uuid: "u", content: "hi", text: "hi" } })

  it("is sending, then accepted, then in the log and gone from here", () => {
    expect(sent[0]?.state.name).toBe("sending")
    const accepted = stepOutgoing(sent, { type: "accepted", uuid: "u" })
    expect(accepted[0]?.state.name).toBe("accepted")
    expect(stepOutgoing(accepted, { type: "logged", uuids: new Set(["u"]) })).toEqual([])
  })

  it("that was not sent can be tried again, as the same message", () => {
    const failed = stepOutgoing(sent, { type: "failed", uuid: "u", why: "away" })
    expect(failed[0]?.state).toEqual({ name: "not-sent", why: "away" })
    expect(stepOutgoing(failed, { type: "retry", uuid: "u" })[0]).toMatchObject({
      uuid: "u",
      state: { name: "sending" },
    })
    expect(stepOutgoing(failed, { type: "discard", uuid: "u" })).toEqual([])
  })
})
