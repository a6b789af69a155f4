import { HubClientError } from "@signalbox/client"
import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import { FakeHub, TOKEN } from "./fake-hub.ts"
import { isEvent, isType, oneTo, readUntil, seqsOf, setUp } from "./setup.ts"

const setup = setUp()

describe("following a session", () => {
  it("[HC1] tells that it is subscribed, the session, what happened after the cursor, and then what happens", async () => {
    setup.fake.append("s", 3)
    const items = setup.connect().session("s").follow({ after: 1 })
    const first = await readUntil(items, isEvent(3))
    expect(first.map((item) => item.type)).toEqual(["subscribed", "changed", "event", "event"])
    expect(first[0]).toEqual({ type: "subscribed", verdict: "ok", firstSeq: 1, lastSeq: 3 })
    expect(first[2]).toEqual({
      type: "event",
      seq: 2,
      at: "2030-01-01T00:00:00.000Z",
      from: "agent",
      message: { type: "assistant", n: 2 },
    })
    setup.fake.delta("s", "hel")
    setup.fake.append("s")
    setup.fake.tell({ ev: "ask", ask: { id: "a1", sessionId: "s", state: "pending" } })
    const live = await readUntil(items, isType("ask"))
    expect(live.map((item) => item.type)).toEqual(["delta", "event", "ask"])
  })

  it("[HC24] an ask told with its input once has it in its request too", async () => {
    const items = setup.connect().session("s").follow()
    await readUntil(items, isType("changed"))
    const input = { command: "ls" }
    setup.fake.tell({ ev: "ask", ask: { id: "a1", sessionId: "s", input, request: { tool_name: "Bash" } } })
    const told = await readUntil(items, isType("ask"))
    expect(told.at(-1)).toMatchObject({ ask: { input, request: { tool_name: "Bash", input } } })
  })

  it("[HC1] without a cursor it begins at the live edge, also after the connection was lost", async () => {
    setup.fake.append("s", 3)
    const items = setup.connect().session("s").follow()
    await readUntil(items, isType("changed"))
    setup.fake.cut()
    setup.fake.append("s")
    expect(seqsOf(await readUntil(items, isEvent(4)))).toEqual([4])
  })

  it.each(oneTo(14).map((lines) => lines - 1))(
    "[HC2] no event comes twice or is left out when the connection is cut after %i lines, again and again",
    async (lines) => {
      setup.fake.append("s", 6)
      setup.fake.faults.push(...[1, 2, 3, 4].map((linesPerFrame) => ({ cutAfterLines: lines, linesPerFrame })))
      const items = setup.connect().session("s").follow({ after: 0 })
      const read = await readUntil(items, isEvent(6))
      setup.fake.append("s", 2)
      read.push(...(await readUntil(items, isEvent(8))))
      expect(seqsOf(read)).toEqual(oneTo(8))
    },
  )

  it("[HC2] nor with any mixture of cuts, orderly ends, lags, omissions, frames and readers", async () => {
    const fault = fc.record(
      {
        cutAfterLines: fc.nat(11),
        closeCode: fc.constantFrom(1000, 1001, 1012, 1011),
        lagAfterEvents: fc.nat(8),
        linesPerFrame: fc.integer({ min: 1, max: 5 }),
        leavesOut: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 1 }),
      },
      { requiredKeys: ["cutAfterLines"] },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fault, { maxLength: 6 }),
        fc.array(fc.nat(10), { minLength: 1, maxLength: 3 }),
        async (faults, cursors) => {
          const fake = new FakeHub()
          await fake.start()
          fake.append("s", 12)
          fake.faults.push(...faults)
          const hub = setup.connect({ url: fake.url, maxWaitingChars: 600 })
          const readers = cursors.map(async (after) => {
            const read = await readUntil(hub.session("s").follow({ after }), isEvent(20))
            expect(seqsOf(read)).toEqual(oneTo(20).slice(after))
          })
          fake.append("s", 8)
          await Promise.all(readers)
          hub.close()
          await fake.stop()
        },
      ),
      { numRuns: 60 },
    )
  })

  it("[HC3] a lost connection is told once, however long the hub is away, and so is its return", async () => {
    setup.fake.append("s", 1)
    const hub = setup.connect()
    const items = hub.session("s").follow({ after: 0 })
    await readUntil(items, isEvent(1))
    await setup.fake.stop()
    expect((await readUntil(items, isType("disconnected"))).map((item) => item.type)).toEqual(["disconnected"])
    const late = hub.session("s").follow({ after: 0 })
    expect((await late.next()).value).toMatchObject({ type: "disconnected" })
    await setup.fake.start()
    setup.fake.append("s", 1)
    expect((await readUntil(items, isEvent(2))).map((item) => item.type)).toEqual(["subscribed", "changed", "event"])
  })

  it("[HC22] each try is told with its number, and the next one is made at once when that is asked for", async () => {
    setup.fake.append("s", 1)
    const tries: number[] = []
    // So long that no try is made by itself while this test runs.
    const reconnect = { baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 }
    const hub = setup.connect({ reconnect, onRetry: (number) => tries.push(number) })
    const items = hub.session("s").follow({ after: 0 })
    await readUntil(items, isEvent(1))
    expect(tries).toEqual([])
    setup.fake.cut()
    await readUntil(items, isType("disconnected"))
    hub.retryNow()
    setup.fake.append("s", 1)
    expect(seqsOf(await readUntil(items, isEvent(2)))).toEqual([2])
    hub.retryNow()
    expect(tries).toEqual([1])
  })

  it("[HC4] what is no longer in the log is told as a gap, and it goes on behind it", async () => {
    setup.fake.append("s", 10)
    setup.fake.firstSeq.set("s", 6)
    const items = setup.connect().session("s").follow({ after: 2 })
    const read = await readUntil(items, isEvent(10))
    expect(read[0]).toEqual({ type: "subscribed", verdict: "gap", firstSeq: 6, lastSeq: 10 })
    expect(seqsOf(read)).toEqual([6, 7, 8, 9, 10])
  })

  it("[HC4] so is a cursor that the log has not reached", async () => {
    setup.fake.append("s", 2)
    const items = setup.connect().session("s").follow({ after: 9 })
    const read = await readUntil(items, isType("changed"))
    expect(read[0]).toMatchObject({ verdict: "gap", lastSeq: 2 })
    setup.fake.append("s", 1)
    expect(seqsOf(await readUntil(items, isEvent(3)))).toEqual([3])
  })

  it("[HC4] a gap is only for the reader it concerns", async () => {
    setup.fake.append("s", 10)
    setup.fake.firstSeq.set("s", 6)
    const session = setup.connect().session("s")
    const late = session.follow({ after: 8 })
    const early = session.follow({ after: 2 })
    expect((await readUntil(late, isEvent(10)))[0]).toMatchObject({ verdict: "ok" })
    expect((await readUntil(early, isEvent(10)))[0]).toMatchObject({ verdict: "gap" })
  })

  it("[HC5] lagged: it subscribes again where it is", async () => {
    setup.fake.append("s", 5)
    setup.fake.faults.push({ lagAfterEvents: 2 })
    const read = await readUntil(setup.connect().session("s").follow({ after: 0 }), isEvent(5))
    expect(seqsOf(read)).toEqual(oneTo(5))
    expect(read.filter(isType("subscribed"))).toHaveLength(2)
    expect(setup.fake.streamsOpened).toBe(1)
  })

  it("[HC5] a hub that leaves events out is asked again, and given up when it does it for good", async () => {
    setup.fake.append("s", 5)
    setup.fake.faults.push({ leavesOut: [3] })
    const items = setup.connect().session("s").follow({ after: 0 })
    await expect(readUntil(items, isEvent(5))).rejects.toMatchObject({ code: "client/bad-reply" })
  })

  it("[HC6] a reader that does not read is left behind with a bound, and caught up when it reads", async () => {
    setup.fake.append("s", 2000)
    const items = setup.connect({ maxWaitingChars: 10_000 }).session("s").follow({ after: 0 })
    const read = await readUntil(items, isEvent(2000))
    expect(seqsOf(read)).toEqual(oneTo(2000))
    expect(read.filter(isType("subscribed")).length).toBeGreaterThan(3)
  })

  it("[HC7] any number of sessions and readers share one socket, which is closed with the last reader", async () => {
    const hub = setup.connect()
    const all = ["a", "b", "c"].flatMap((id) => {
      setup.fake.append(id, 2)
      return [hub.session(id).follow({ after: 0 }), hub.session(id).follow({ after: 1 })]
    })
    const read = await Promise.all(all.map((items) => readUntil(items, isEvent(2))))
    expect(read.map(seqsOf)).toEqual([[1, 2], [2], [1, 2], [2], [1, 2], [2]])
    expect(setup.fake.streamsOpened).toBe(1)
    for (const items of all) await items.return?.()
    await vi.waitFor(() => expect(setup.fake.viewers.size).toBe(0))
  })

  it("[HC7] readers that join at once disturb the others once", async () => {
    setup.fake.append("s", 2)
    const session = setup.connect().session("s")
    const first = session.follow({ after: 0 })
    await readUntil(first, isEvent(2))
    const joined = [session.follow({ after: 0 }), session.follow({ after: 1 }), session.follow()]
    await Promise.all(joined.map((items) => readUntil(items, isType("subscribed"))))
    setup.fake.append("s", 1)
    expect((await readUntil(first, isEvent(3))).filter(isType("subscribed"))).toHaveLength(1)
  })

  it("[HC7] a reader that comes right after another left does not take that one's confirmation for its own", async () => {
    setup.fake.append("s", 3)
    setup.fake.append("other", 1)
    const hub = setup.connect()
    await readUntil(hub.session("other").follow({ after: 0 }), isEvent(1))
    await hub.session("s").follow({ after: 2 }).return?.()
    const items = hub.session("s").follow({ after: 0 })
    const read = await readUntil(items, isEvent(3))
    expect(read.map(({ type }) => type)).toEqual(["changed", "subscribed", "changed", "event", "event", "event"])
    await items.return?.()
  })

  it("[HC7] a reader that stops while it waits is let go", async () => {
    setup.fake.append("s", 1)
    const items = setup.connect().session("s").follow({ after: 1 })
    await readUntil(items, isType("changed"))
    const next = items.next()
    await items.return?.()
    expect(await next).toEqual({ value: undefined, done: true })
  })

  it("[HC8] all sessions are watched without their events", async () => {
    const items = setup.connect().watch()
    await readUntil(items, isType("subscribed"))
    setup.fake.append("s")
    setup.fake.tell({ ev: "changed", session: "s", record: { id: "s", state: "idle" } })
    setup.fake.tell({ ev: "ask", ask: { id: "a", sessionId: "s" } })
    const read = await readUntil(items, isType("ask"))
    expect(read.filter(({ type }) => type === "event")).toEqual([])
    expect(read.at(-2)).toEqual({ type: "changed", session: { id: "s", state: "idle" } })
  })

  it("[HC9] a token that the hub does not know ends it with the hub's own error", async () => {
    const items = setup.connect({ token: "wrong" }).session("s").follow()
    await expect(items.next()).rejects.toMatchObject({ code: "auth/required", status: 401 })
    expect(await items.next()).toEqual({ value: undefined, done: true })
  })

  it("[HC9] a stream closed for good is not opened again; one revoked on the way says so", async () => {
    setup.fake.append("s", 1)
    setup.fake.faults.push({ cutAfterLines: 3, closeCode: 4001 })
    const items = setup.connect().session("s").follow({ after: 0 })
    await expect(readUntil(items, () => false)).rejects.toMatchObject({ code: "client/refused" })
    expect(setup.fake.streamsOpened).toBe(1)
    const again = setup.connect().session("s").follow({ after: 0 })
    await readUntil(again, isEvent(1))
    setup.fake.token = "another"
    setup.fake.cut()
    await expect(readUntil(again, () => false)).rejects.toMatchObject({ code: "auth/required" })
  })

  it("[HC9] an unknown session ends it, whether the hub says so or says nothing", async () => {
    setup.fake.faults.push({ staysSilent: true })
    const items = setup.connect({ pingMs: 30 }).session("nowhere").follow()
    await expect(items.next()).rejects.toMatchObject({ code: "session/unknown", status: 404 })
    const told = setup.connect().session("elsewhere").follow()
    await readUntil(told, isType("changed"))
    setup.fake.tell({ ev: "error", session: "elsewhere", error: { code: "session/unknown", message: "gone" } })
    await expect(told.next()).rejects.toMatchObject({ code: "session/unknown", message: "gone" })
  })

  it.each([{ staysSilent: true }, { isDead: true }])("[HC10] a hub that %j is taken for gone", async (fault) => {
    setup.fake.append("s", 1)
    setup.fake.faults.push(fault)
    const items = setup.connect({ pingMs: 30 }).session("s").follow({ after: 0 })
    const read = await readUntil(items, isEvent(1))
    expect(read[0]).toMatchObject({ type: "disconnected", reason: expect.stringMatching(/silent|does not confirm/) })
    expect(seqsOf(read)).toEqual([1])
    await items.return?.()
  })

  it("[HC10] rubbish on the stream is a lost connection; a line of a newer hub is left alone", async () => {
    setup.fake.append("s", 1)
    const items = setup.connect().session("s").follow({ after: 0 })
    await readUntil(items, isEvent(1))
    setup.fake.tell({ ev: "weather", session: "s" })
    setup.fake.append("s", 1)
    expect(seqsOf(await readUntil(items, isEvent(2)))).toEqual([2])
    setup.fake.tell({ no: "line" })
    await readUntil(items, isType("disconnected"))
    setup.fake.append("s", 1)
    expect(seqsOf(await readUntil(items, isEvent(3)))).toEqual([3])
  })

  it("[HC11] close ends what is followed and what waits to connect; afterwards nothing can be followed", async () => {
    setup.fake.append("s", 1)
    const hub = setup.connect()
    const items = hub.session("s").follow({ after: 1 })
    await readUntil(items, isType("changed"))
    const waiting = items.next()
    hub.close()
    expect(await waiting).toEqual({ value: undefined, done: true })
    expect(() => hub.session("s").follow()).toThrow(HubClientError)
    await vi.waitFor(() => expect(setup.fake.viewers.size).toBe(0))
    const lonely = setup.connect({ url: "http://127.0.0.1:1", token: TOKEN })
    const never = lonely.session("s").follow()
    await readUntil(never, isType("disconnected"))
    const next = never.next()
    lonely.close()
    expect(await next).toEqual({ value: undefined, done: true })
  })

  it("[HC11] a signal ends it with client/aborted", async () => {
    const ending = new AbortController()
    const hub = setup.connect()
    const items = hub.session("s").follow({ signal: ending.signal })
    await readUntil(items, isType("changed"))
    const next = items.next()
    ending.abort()
    await expect(next).rejects.toMatchObject({ code: "client/aborted" })
    await expect(hub.session("s").follow({ signal: ending.signal }).next()).rejects.toMatchObject({
      code: "client/aborted",
    })
  })
})
