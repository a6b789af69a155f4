import { expect, it } from "vitest"
import type { EventLogSetup } from "./event-log-setup.ts"
import { nextTurn, numberedEvent, numberedEvents, seqs, take, upTo } from "./events.ts"

type WithLog = (run: (setup: EventLogSetup) => Promise<void>) => Promise<void>

export function describeFollowContract(withLog: WithLog): void {
  it("[EL9] a follower gets what is there after its cursor, then what comes", () =>
    withLog(async ({ log }) => {
      await log.append("s", numberedEvents(10))
      const { signal } = new AbortController()
      const taking = take(log.follow("s", 4, signal), 8)
      await log.append("s", numberedEvents(2, 11))
      expect(seqs(await taking)).toEqual(upTo(8, 5))
    }))

  it("[EL9] followers of a session that is written all the time see every event once, wherever they begin", () =>
    withLog(async ({ log }) => {
      const total = 4000
      const { signal } = new AbortController()
      const followers: Promise<number[]>[] = []
      for (let n = 1; n <= total; n += 40) {
        if (n % 400 === 1) followers.push(take(log.follow("s", 0, signal), total).then(seqs))
        if (n % 400 === 201) followers.push(take(log.follow("s", n, signal), total - n).then(seqs))
        const appends = [log.append("s", numberedEvents(15, n)), log.append("s", numberedEvents(25, n + 15))]
        if (n % 120 === 1) await Promise.all(appends)
      }
      for (const [index, seen] of (await Promise.all(followers)).entries()) {
        const from = index % 2 === 0 ? 1 : (index - 1) * 200 + 202
        expect(seen).toEqual(upTo(total - from + 1, from))
      }
    }))

  it("[EL9] events are seen only after they were confirmed or could be read", () =>
    withLog(async ({ log }) => {
      const { signal } = new AbortController()
      const events = log.follow("s", 0, signal)[Symbol.asyncIterator]()
      for (let n = 1; n <= 20; n++) {
        const appended = log.append("s", [numberedEvent(n)])
        const { value } = await events.next()
        expect(value).toEqual({ ...numberedEvent(n), seq: n })
        expect(await log.read("s", { after: n - 1, limit: 1 })).toEqual([value])
        await appended
      }
      await events.return?.()
    }))

  it("[EL10] a slow follower holds up nobody and misses nothing", () =>
    withLog(async ({ log }) => {
      const total = 5000
      const { signal } = new AbortController()
      const slow = take(log.follow("s", 0, signal), total, nextTurn)
      // Far more than a follower may hold: it has to go back to the log.
      for (let n = 1; n <= total; n += 500) await log.append("s", numberedEvents(500, n))
      const quick = await take(log.follow("s", 0, signal), total)
      expect(seqs(quick)).toEqual(upTo(total))
      expect(seqs(await slow)).toEqual(upTo(total))
    }))

  it("[EL10] a follower that does not read at all keeps its place", () =>
    withLog(async ({ log }) => {
      const { signal } = new AbortController()
      const events = log.follow("s", 0, signal)[Symbol.asyncIterator]()
      await log.append("s", numberedEvents(1))
      expect((await events.next()).value?.seq).toBe(1)
      for (let n = 2; n <= 3000; n += 100) await log.append("s", numberedEvents(100, n))
      for (let n = 2; n <= 3001; n++) expect((await events.next()).value?.seq).toBe(n)
      await events.return?.()
    }))

  it("[EL11] a follower that waits is let go by its signal, at once if it was given before", () =>
    withLog(async ({ log }) => {
      const stop = new AbortController()
      const waiting = take(log.follow("s", 0, stop.signal), 5)
      await log.append("s", numberedEvents(2))
      await nextTurn()
      stop.abort()
      expect(seqs(await waiting)).toEqual([1, 2])
      expect(await take(log.follow("s", 0, stop.signal), 5)).toEqual([])
    }))

  it("[EL11] a follower that stops, also while it waits, is let go", () =>
    withLog(async ({ log }) => {
      const { signal } = new AbortController()
      const events = log.follow("s", 0, signal)[Symbol.asyncIterator]()
      const waiting = events.next()
      await nextTurn()
      await events.return?.()
      expect(await waiting).toEqual({ value: undefined, done: true })
      expect(await events.next()).toEqual({ value: undefined, done: true })
      await log.append("s", numberedEvents(1))
    }))
}
