import { expect, it } from "vitest"
import type { EventLogSetup } from "./event-log-setup.ts"
import { numberedEvent, numberedEvents, seqs, upTo } from "./events.ts"

type WithLog = (run: (setup: EventLogSetup) => Promise<void>) => Promise<void>

export function describeReadContract(withLog: WithLog): void {
  it("[EL6] a read gives the first events of its range, or the last when only `before` is given", () =>
    withLog(async ({ log }) => {
      await log.append("s", numberedEvents(20))
      const read = async (range: Parameters<typeof log.read>[1]) => seqs(await log.read("s", range))
      expect(await read({ limit: 5 })).toEqual(upTo(5))
      expect(await read({ after: 0, limit: 5 })).toEqual(upTo(5))
      expect(await read({ after: 5, limit: 5 })).toEqual(upTo(5, 6))
      expect(await read({ after: 18, limit: 5 })).toEqual([19, 20])
      expect(await read({ after: 20, limit: 5 })).toEqual([])
      expect(await read({ after: 99, limit: 5 })).toEqual([])
      expect(await read({ before: 21, limit: 5 })).toEqual(upTo(5, 16))
      expect(await read({ before: 99, limit: 5 })).toEqual(upTo(5, 16))
      expect(await read({ before: 4, limit: 5 })).toEqual([1, 2, 3])
      expect(await read({ before: 1, limit: 5 })).toEqual([])
      expect(await read({ after: 3, before: 8, limit: 100 })).toEqual([4, 5, 6, 7])
      expect(await read({ after: 3, before: 8, limit: 2 })).toEqual([4, 5])
      expect(await read({ after: 8, before: 3, limit: 5 })).toEqual([])
      expect(await read({ after: 7, before: 8, limit: 5 })).toEqual([])
    }))

  it("[EL7] a read is bounded: by its limit, by its bytes, and for those who ask for everything", () =>
    withLog(async ({ log }) => {
      expect(await log.read("s", { limit: 0 })).toEqual([])
      const long = upTo(10).map((n) => ({ ...numberedEvent(n), line: "é".repeat(500) }))
      await log.append("s", long)
      const read = async (range: Parameters<typeof log.read>[1]) => seqs(await log.read("s", range))
      expect(await read({ limit: 0 })).toEqual([])
      expect(await read({ limit: -1 })).toEqual([])
      expect(await read({ limit: 10, maxBytes: 3500 })).toEqual([1, 2, 3])
      expect(await read({ limit: 2, maxBytes: 3500 })).toEqual([1, 2])
      expect(await read({ after: 4, limit: 10, maxBytes: 2000 })).toEqual([5, 6])
      expect(await read({ before: 11, limit: 10, maxBytes: 2999 })).toEqual([9, 10])
      expect(await read({ after: 3, limit: 10, maxBytes: 1 })).toEqual([4])
      await log.append("big", numberedEvents(10_050))
      expect(await log.read("big", { limit: 1_000_000 })).toHaveLength(10_000)
    }))

  it("[EL7] sizes tells the same events as a read, and the bytes of each line", () =>
    withLog(async ({ log }) => {
      await log.append(
        "s",
        upTo(10).map((n) => ({ ...numberedEvent(n), line: "é".repeat(n) })),
      )
      expect(await log.sizes("none", { limit: 5 })).toEqual([])
      expect(await log.sizes("s", { after: 2, limit: 2 })).toEqual([
        { seq: 3, bytes: 6 },
        { seq: 4, bytes: 8 },
      ])
      for (const range of [
        { limit: 0 },
        { before: 9, limit: 3 },
        { after: 0, limit: 9, maxBytes: 13 },
        { before: 9, limit: 9, maxBytes: 33 },
      ]) {
        expect(seqs(await log.sizes("s", range))).toEqual(seqs(await log.read("s", range)))
      }
    }))

  it("[EL8] bounds tell the first and the last number, both 0 without events", () =>
    withLog(async ({ log }) => {
      expect(await log.bounds("s")).toEqual({ firstSeq: 0, lastSeq: 0 })
      await log.append("s", [])
      expect(await log.bounds("s")).toEqual({ firstSeq: 0, lastSeq: 0 })
      await log.append("s", numberedEvents(9))
      expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 9 })
    }))

  it("[EL8] the event with a key is found, and only in its session", () =>
    withLog(async ({ log }) => {
      expect(await log.find("s", "key-3")).toBeUndefined()
      await log.append("s", numberedEvents(9))
      expect(await log.find("s", "key-3")).toEqual({ ...numberedEvent(3), seq: 3 })
      expect(await log.find("s", "key-10")).toBeUndefined()
      expect(await log.find("other", "key-3")).toBeUndefined()
    }))
}
