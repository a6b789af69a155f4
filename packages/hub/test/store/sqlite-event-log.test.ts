import { statSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { NewEvent } from "../../src/model/event.ts"
import { Checkpointer } from "../../src/store/checkpoint.ts"
import { openDatabase } from "../../src/store/database.ts"
import { keySlot } from "../../src/store/event-keys.ts"
import type { EventLog } from "../../src/store/event-log.ts"
import { Journal } from "../../src/store/journal.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { SqliteEventLog } from "../../src/store/sqlite-event-log.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { withFile, withStore } from "./store-folder.ts"

const MIB = 1024 * 1024

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
    withStore(async ({ log }, file) => {
      await log.append("s", [{ at: 1, from: "agent", key: "somebody else's", line: "{}" }])
      const database = openDatabase(file)
      // As if its hash were that of "b": two such keys are not to be had otherwise.
      database.run("UPDATE events SET key_slot = ? WHERE seq = 1", [keySlot("b")])
      database.close()
      const event = (key: string): NewEvent => ({ at: 1, from: "agent", key, line: "{}" })
      expect(await log.find("s", "b")).toBeUndefined()
      expect((await log.append("s", [event("a"), event("b"), event("c")])).stored).toHaveLength(3)
      expect((await log.append("s", [event("b")])).stored).toEqual([])
      expect((await log.append("s", [event("c"), event("d"), event("b")])).stored).toHaveLength(1)
      expect((await log.find("s", "b"))?.seq).toBe(3)
      expect(seqs(await readWhole(log, "s"))).toEqual(upTo(5))
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
      const checkpointer = new Checkpointer(database, file, { dueAtBytes: MIB, maxBytes: 8 * MIB })
      const journal = new Journal(database, { onCommitted: ({ bytes }) => checkpointer.noteCommit(bytes) })
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
      // 40 MB were written. Its size is looked at once for each MB.
      expect(longest).toBeLessThan(11 * MIB)
      expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 800 })
      journal.close()
      await checkpointer.close()
      database.close()
    }))
})
