import { describe, expect, it } from "vitest"
import type { NewEvent } from "../model/event.ts"
import { describeReadContract } from "./event-log-read-contract.ts"
import type { EventLogSetup } from "./event-log-setup.ts"
import { numberedEvent, numberedEvents, readWhole, seqs, upTo } from "./events.ts"
import { describeLogPurgeContract } from "./purge-contract.ts"

/** The rules of docs/spec/event-log.md that hold for every log. */
export function describeEventLogContract(name: string, open: () => Promise<EventLogSetup>): void {
  async function withLog(run: (setup: EventLogSetup) => Promise<void>): Promise<void> {
    const setup = await open()
    try {
      await run(setup)
    } finally {
      await setup.dispose()
    }
  }

  describe(`event log contract: ${name}`, () => {
    it("[EL1] events are numbered from 1 on, in the order of the appends", () =>
      withLog(async ({ log }) => {
        expect(seqs((await log.append("s", numberedEvents(3))).stored)).toEqual([1, 2, 3])
        const second = await log.append("s", numberedEvents(2, 4))
        expect(second.stored).toEqual([
          { ...numberedEvent(4), seq: 4 },
          { ...numberedEvent(5), seq: 5 },
        ])
        expect(second.lastSeq).toBe(5)
      }))

    it("[EL1] many appends at once leave no hole and keep the order of the calls", () =>
      withLog(async ({ log }) => {
        const appends = Array.from({ length: 300 }, (_, index) => log.append("s", numberedEvents(3, index * 3 + 1)))
        const replies = await Promise.all(appends)
        expect(replies.flatMap((reply) => seqs(reply.stored))).toEqual(upTo(900))
        expect(replies.map((reply) => reply.lastSeq)).toEqual(replies.map((_, index) => index * 3 + 3))
        const whole = await readWhole(log, "s")
        expect(seqs(whole)).toEqual(upTo(900))
        expect(whole.map((event) => event.key)).toEqual(upTo(900).map((n) => `key-${n}`))
      }))

    it("[EL1] appends over many turns of the event loop, some with repeats, leave no hole", () =>
      withLog(async ({ log }) => {
        const writers = Array.from({ length: 8 }, async (_, writer) => {
          for (let round = 0; round < 25; round++) {
            // Every second event is one that another writer brings too.
            const own = { ...numberedEvent(round), key: `own-${writer}-${round}` }
            await log.append("s", [own, { ...numberedEvent(round), key: `shared-${round}` }])
          }
        })
        await Promise.all(writers)
        expect(seqs(await readWhole(log, "s"))).toEqual(upTo(8 * 25 + 25))
      }))

    it("[EL2] what was confirmed can be read at once", () =>
      withLog(async ({ log }) => {
        for (let n = 1; n <= 50; n++) {
          const { lastSeq } = await log.append("s", [numberedEvent(n)])
          expect(await log.read("s", { after: lastSeq - 1, limit: 10 })).toEqual([{ ...numberedEvent(n), seq: n }])
        }
      }))

    it("[EL2] an append of nothing stores nothing and tells the last number", () =>
      withLog(async ({ log }) => {
        expect(await log.append("s", [])).toEqual({ stored: [], lastSeq: 0 })
        await log.append("s", numberedEvents(7))
        expect(await log.append("s", [])).toEqual({ stored: [], lastSeq: 7 })
      }))

    it("[EL3] an event whose key the session has is not stored again, however much came in between", () =>
      withLog(async ({ log }) => {
        await log.append("s", numberedEvents(500))
        const again = await log.append("s", [numberedEvent(1), numberedEvent(501), numberedEvent(250)])
        expect(again.stored).toEqual([{ ...numberedEvent(501), seq: 501 }])
        expect(again.lastSeq).toBe(501)
        expect(await log.append("s", [numberedEvent(3)])).toEqual({ stored: [], lastSeq: 501 })
        expect(seqs(await readWhole(log, "s"))).toEqual(upTo(501))
      }))

    it("[EL3] a key twice in one append, and in many at once, is stored once", () =>
      withLog(async ({ log }) => {
        const twice = await log.append("s", [numberedEvent(1), numberedEvent(1), numberedEvent(2)])
        expect(seqs(twice.stored)).toEqual([1, 2])
        const replies = await Promise.all(Array.from({ length: 40 }, () => log.append("s", numberedEvents(5))))
        expect(replies.flatMap((reply) => reply.stored).map((event) => event.key)).toEqual(["key-3", "key-4", "key-5"])
        expect(replies.map((reply) => reply.lastSeq)).toEqual(replies.map(() => 5))
      }))

    it("[EL3] events without a key are always stored, and keys are a session's own", () =>
      withLog(async ({ log }) => {
        const plain: NewEvent = { at: 1, from: "hub", line: "{}" }
        expect(seqs((await log.append("s", [plain, plain])).stored)).toEqual([1, 2])
        await log.append("s", [numberedEvent(1)])
        expect(seqs((await log.append("other", [numberedEvent(1)])).stored)).toEqual([1])
      }))

    it("[EL3] keys of any characters stay apart", () =>
      withLog(async ({ log }) => {
        const keys = [
          "",
          "a",
          "a\0b",
          "a\0c",
          "A",
          "é",
          "e\u0301",
          "\u0001",
          "\u0001a",
          "😀",
          "x".repeat(5000),
          "1",
          "01",
        ]
        const events = keys.map((key, n) => ({ ...numberedEvent(n), key }))
        expect((await log.append("s", events)).stored).toHaveLength(keys.length)
        expect((await log.append("s", events)).stored).toEqual([])
        for (const [index, key] of keys.entries()) expect((await log.find("s", key))?.seq).toBe(index + 1)
        expect((await readWhole(log, "s")).map((event) => event.key)).toEqual(keys)
      }))

    it("[EL4] a line comes back as it was given, with who and when", () =>
      withLog(async ({ log }) => {
        const lines = [
          "",
          "{}",
          "not json",
          '{"a":"é€😀\\u0000"}',
          "nul\0in it",
          "\u2028\r\n",
          `"${"x".repeat(2_000_000)}"`,
        ]
        const events = lines.map((line, n): NewEvent => ({ at: n, from: "client", by: "somebody", line }))
        await log.append("s", events)
        expect(await readWhole(log, "s")).toEqual(events.map((event, index) => ({ ...event, seq: index + 1 })))
      }))

    it("[EL5] sessions know nothing of each other", () =>
      withLog(async ({ log }) => {
        const sessions = upTo(20).map((n) => `session ${n}`)
        await Promise.all(upTo(10).flatMap((n) => sessions.map((session) => log.append(session, [numberedEvent(n)]))))
        for (const session of sessions) expect(seqs(await readWhole(log, session))).toEqual(upTo(10))
        expect(await readWhole(log, "session 21")).toEqual([])
      }))

    it("[EL12] what was confirmed is there after the log was closed and opened: numbers and keys go on", () =>
      withLog(async ({ log, reopen }) => {
        await log.append("s", numberedEvents(100), { synced: true })
        await log.append("other", numberedEvents(3))
        // A log that lives in memory keeps the same promise as long as it lives.
        const later = reopen === undefined ? log : await reopen()
        expect(seqs(await readWhole(later, "s"))).toEqual(upTo(100))
        expect(await later.bounds("other")).toEqual({ firstSeq: 1, lastSeq: 3 })
        const { stored } = await later.append("s", [numberedEvent(50), numberedEvent(101)])
        expect(stored).toEqual([{ ...numberedEvent(101), seq: 101 }])
      }))

    describeReadContract(withLog)
    describeLogPurgeContract(withLog)
  })
}
