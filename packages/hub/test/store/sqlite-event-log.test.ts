import { statSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { NewEvent } from "../../src/model/event.ts"
import { Checkpointer } from "../../src/store/checkpoint.ts"
import { openDatabase } from "../../src/store/database.ts"
import type { EventLog } from "../../src/store/event-log.ts"
import { Journal } from "../../src/store/journal.ts"
import { keySlot } from "../../src/store/key-slot.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { openStore } from "../../src/store/open-store.ts"
import { SqliteEventLog } from "../../src/store/sqlite-event-log.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { withFile, withStore } from "./store-folder.ts"

const MIB = 1024 * 1024
const keyed = (key: string): NewEvent => ({ at: 1, from: "agent", key, line: "{}" })

async function appendMany(log: EventLog, session: string, count: number): Promise<void> {
  for (let from = 1; from <= count; from += 5000) await log.append(session, numberedEvents(Math.min(5000, count), from))
}

/** The quickest of many, so that what else the machine does is not counted. */
async function quickestMs(run: () => Promise<unknown>): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 200; round++) {
    const startedAt = performance.now()
    await run()
    quickest = Math.min(quickest, performance.now() - startedAt)
  }
  return quickest
}

describe("the event log in SQLite", () => {
  it("[EL3] keys that share a slot stay apart, in whatever order they come", () =>
    withFile(async (file) => {
      const before = openStore({ file })
      await before.log.append("s", [keyed("somebody else's")])
      await before.close()
      const database = openDatabase(file)
      // As if its hash were that of "b": two such keys are not to be had otherwise.
      database.run("INSERT INTO event_keys SELECT session, ?, seq FROM events", [keySlot("b")])
      database.close()
      const store = openStore({ file })
      const { log } = store
      expect(await log.find("s", "b")).toBeUndefined()
      expect((await log.append("s", ["a", "b", "c"].map(keyed))).stored).toHaveLength(3)
      expect((await log.append("s", [keyed("b")])).stored).toEqual([])
      expect((await log.append("s", ["c", "d", "b"].map(keyed))).stored).toHaveLength(1)
      expect((await log.find("s", "b"))?.seq).toBe(3)
      expect(seqs(await readWhole(log, "s"))).toEqual(upTo(5))
      await store.close()
    }))

  it("[EL3] a key is known for the life of a session: while it waits for the index, on its way there, and in it", () =>
    withStore(async ({ log, journal }, file) => {
      const database = openDatabase(file)
      const indexed = () => Number(database.get("SELECT count(*) FROM event_keys", [])?.[0])
      const keys = Array.from({ length: 20_000 }, (_, n) => `key-${n}`)
      let underWay = 0
      for (let from = 0; from < keys.length; from += 500) {
        await log.append("s", keys.slice(from, from + 500).map(keyed))
        if (indexed() > 0 && indexed() < from + 500) underWay++
        const again = [0, Math.floor(from / 2), from, from + 499].map((n) => keyed(keys[n] ?? ""))
        expect((await log.append("s", again)).stored).toEqual([])
      }
      // It was not tried only before and after.
      expect(underWay).toBeGreaterThan(10)
      await journal.flush()
      expect((await log.append("s", keys.map(keyed))).stored).toEqual([])
      expect((await log.append("t", keys.slice(0, 10).map(keyed))).stored).toHaveLength(10)
      expect((await log.find("s", "key-12345"))?.seq).toBe(12_346)
      database.close()
    }))

  it("[EL3] keys that were not in the index when the process ended are known to the next", () =>
    withFile(async (file) => {
      const keys = Array.from({ length: 6000 }, (_, n) => `key-${n}`)
      const first = openStore({ file })
      await first.log.append("s", keys.map(keyed))
      await first.close()
      for (let start = 0; start < 2; start++) {
        const store = openStore({ file })
        expect((await store.log.append("s", [keyed("key-0"), keyed("key-5999")])).stored).toEqual([])
        expect((await store.log.append("s", keys.map(keyed))).stored).toEqual([])
        expect((await store.log.append("s", [keyed(`start-${start}`)])).lastSeq).toBe(6001 + start)
        await store.close()
      }
    }))

  it("[EL3] a session with more keys than are kept in memory knows them all", () =>
    withStore(async ({ log }) => {
      const keys = Array.from({ length: 140_000 }, (_, n) => `key-${n}`)
      for (let from = 0; from < keys.length; from += 5000) {
        await log.append("s", keys.slice(from, from + 5000).map(keyed))
      }
      for (let n = 0; n < keys.length; n += 997) {
        expect((await log.append("s", [keyed(keys[n] ?? "")])).stored, `key ${n}`).toEqual([])
      }
      expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 140_000 })
    }))

  it("[EL3] after a transaction that was rolled back nothing is known that is not there, and nothing is forgotten", () =>
    withStore(async ({ log }) => {
      await log.append("s", [keyed("a")])
      const broken = JSON.parse('{"at":{},"from":"agent","key":"b","line":"{}"}')
      await Promise.allSettled([log.append("s", [keyed("c")]), log.append("s", [broken])])
      expect((await log.append("s", ["a", "b", "c", "d"].map(keyed))).stored.map(({ key }) => key)).toEqual(["b", "d"])
      expect(seqs(await readWhole(log, "s"))).toEqual(upTo(4))
    }))

  it("[EL1] two processes on one file do not give a number twice", () =>
    withStore(async ({ log }, file) => {
      await log.append("s", numberedEvents(3))
      const other = openDatabase(file)
      other.run(
        "INSERT INTO events (session, seq, at, origin, line) SELECT session, 4, at, origin, line FROM events LIMIT 1",
        [],
      )
      other.close()
      expect(seqs((await log.append("s", numberedEvents(2, 4))).stored)).toEqual([5, 6])
    }))

  it("[JL9] the end of a long session is read as quickly as that of a short one", () =>
    withStore(async ({ log }) => {
      await appendMany(log, "short", 1000)
      await appendMany(log, "long", 100_000)
      const tail = (session: string, before: number) => quickestMs(() => log.read(session, { before, limit: 200 }))
      const short = await tail("short", 1001)
      const long = await tail("long", 100_001)
      // Reading on from the start, or sorting, would cost a hundred times as much.
      expect(long / short).toBeLessThan(3)
    }))

  it("[JL10] the write-ahead log is moved into the file while writing goes on, and does not grow without end", () =>
    withFile(async (file) => {
      const database = openDatabase(file)
      migrate(database)
      let holds = 0
      const limits = { dueAtBytes: MIB, maxBytes: 8 * MIB }
      const hold = () => {
        holds++
        return journal.hold()
      }
      const checkpointer = new Checkpointer({ database, file, limits, hold })
      const journal: Journal = new Journal(database, { onCommitted: ({ bytes }) => checkpointer.noteCommit(bytes) })
      const log = new SqliteEventLog(database, journal)
      const event: NewEvent = { at: 1, from: "agent", line: "x".repeat(50_000) }
      let longest = 0
      for (let n = 0; n < 80; n++) {
        await log.append(
          "s",
          Array.from({ length: 10 }, () => event),
        )
        longest = Math.max(longest, statSync(`${file}-wal`).size)
      }
      // 40 MB were written without a pause. Its size is looked at once for each MB, and a round of the thread goes before.
      expect(longest).toBeLessThan(20 * MIB)
      expect(holds).toBeGreaterThan(0)
      expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 800 })
      journal.close()
      await checkpointer.close()
      database.close()
    }))

  it("[JL10] in a pause the write-ahead log starts over, and nobody was held up", () =>
    withFile(async (file) => {
      const database = openDatabase(file)
      migrate(database)
      let holds = 0
      const hold = () => {
        holds++
        return journal.hold()
      }
      const limits = { dueAtBytes: MIB, maxBytes: 64 * MIB }
      const checkpointer = new Checkpointer({ database, file, limits, hold })
      const journal: Journal = new Journal(database, { onCommitted: ({ bytes }) => checkpointer.noteCommit(bytes) })
      const log = new SqliteEventLog(database, journal)
      const event: NewEvent = { at: 1, from: "agent", line: "x".repeat(50_000) }
      const some = Array.from({ length: 100 }, () => event)
      for (let n = 0; n < 8; n++) {
        await log.append("s", some)
        expect(checkpointer.isIdle).toBe(false)
        await expect.poll(() => checkpointer.isIdle, { timeout: 20_000 }).toBe(true)
      }
      // 40 MB were written, 5 MB at a time.
      expect(statSync(`${file}-wal`).size).toBeLessThan(7 * MIB)
      expect(holds).toBe(0)
      journal.close()
      await checkpointer.close()
      database.close()
    }))
})
