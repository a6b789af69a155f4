import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { NewEvent } from "../../src/model/event.ts"
import { dropBlocks } from "../../src/store/cold/keep-block.ts"
import { Compression } from "../../src/store/compression.ts"
import { type Database, openDatabase } from "../../src/store/database.ts"
import type { EventLog, ReadRange } from "../../src/store/event-log.ts"
import { openStore } from "../../src/store/open-store.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { keptSession } from "../../src/testing/records.ts"
import { recordedTurns } from "./recorded-session.ts"
import { compressHere, withFile, withStore } from "./store-folder.ts"

const AGO = 1_700_000_000_000
const said = (text: string, at = AGO): NewEvent => ({
  at,
  from: "agent",
  line: JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } }),
})

function withDatabase<T>(file: string, run: (database: Database) => T): T {
  const database = openDatabase(file)
  try {
    return run(database)
  } finally {
    database.close()
  }
}

/** How many events of a session are in blocks. */
function coldEvents(file: string, session: string): number {
  const count = `SELECT count(*) FROM events JOIN log_sessions AS log ON log.id = events.session
    WHERE log.name = ? AND typeof(line) = 'integer'`
  return withDatabase(file, (database) => Number(database.get(count, [session])?.[0]))
}

const newEvent: fc.Arbitrary<NewEvent> = fc.record(
  {
    at: fc.nat(),
    from: fc.constantFrom("agent", "client", "hub"),
    by: fc.constantFrom("ann", "bob é"),
    key: fc.string({ unit: "binary", maxLength: 2 }),
    line: fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.constant("é".repeat(300))),
  },
  { requiredKeys: ["at", "from", "line"] },
)
const range: fc.Arbitrary<ReadRange> = fc.record(
  { after: fc.nat(40), before: fc.nat(60), limit: fc.nat(30), maxBytes: fc.nat(2000) },
  { requiredKeys: ["limit"] },
)
const step = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), events: fc.array(newEvent, { maxLength: 15 }) }),
  fc.record({ kind: fc.constant("compress" as const) }),
  fc.record({ kind: fc.constant("read" as const), range }),
)

describe("the lines of cold sessions", () => {
  it("[JL40] whatever is appended, compressed and read, in whatever order: it reads like a log in memory", () =>
    withStore(async (store, file) => {
      let runs = 0
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const session = `session ${runs++}`
        const memory = new MemoryEventLog()
        const both = async <T>(run: (log: EventLog) => Promise<T>) =>
          expect(await run(store.log)).toEqual(await run(memory))
        for (const each of steps) {
          if (each.kind === "append") await both((log) => log.append(session, each.events))
          if (each.kind === "compress") await compressHere(store, file)
          if (each.kind !== "read") continue
          await both((log) => log.read(session, each.range))
          await both((log) => log.sizes(session, each.range))
        }
        await compressHere(store, file)
        await both((log) => readWhole(log, session))
        await both((log) => log.bounds(session))
        for (const { key } of await readWhole(memory, session))
          if (key !== undefined) await both((log) => log.find(session, key))
      })
      await fc.assert(property, { numRuns: 40 })
    }))

  it("[JL40] are those to which nothing was added for an hour, or for ten minutes once the session has ended", () =>
    withStore(async (store, file) => {
      const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
      for (const state of ["ended", "idle"] as const) {
        for (const minutes of [5, 15, 65]) {
          const id = `${state} ${minutes}`
          await store.directory.saveSession(keptSession(id, { state }))
          await store.log.append(id, [said("old", minutesAgo(500)), said("last", minutesAgo(minutes))])
        }
      }
      await compressHere(store, file, { ended: minutesAgo(10), others: minutesAgo(60) })
      const cold = ["ended 5", "ended 15", "ended 65", "idle 5", "idle 15", "idle 65"].filter(
        (id) => coldEvents(file, id) === 2,
      )
      expect(cold).toEqual(["ended 15", "ended 65", "idle 65"])
    }))

  it("[JL41] a cold session goes on like any other, and its keys are known, also to the next process", () =>
    withFile(async (file) => {
      const first = openStore({ file })
      await first.log.append("s", numberedEvents(300))
      await compressHere(first, file)
      expect((await first.log.append("s", [...numberedEvents(2, 299), ...numberedEvents(2, 301)])).lastSeq).toBe(302)
      await first.close()
      const next = openStore({ file })
      expect((await next.log.append("s", numberedEvents(303))).stored.map(({ seq }) => seq)).toEqual([303])
      const before = await readWhole(next.log, "s")
      await compressHere(next, file)
      expect(await readWhole(next.log, "s")).toEqual(before)
      expect(seqs(await next.log.read("s", { after: 126, before: 131, limit: 10 }))).toEqual([127, 128, 129, 130])
      expect(await next.log.read("s", { before: 304, limit: 200 })).toEqual(before.slice(-200))
      await next.close()
    }))

  it("[JL42] lines that would not come back as they are, very long ones, and those that save nothing stay in their rows", () =>
    withStore(async (store, file) => {
      const long = "x".repeat(1024 * 1024 + 1)
      const lines = ["nul\0in it", "half a pair \ud800 only", long, "", "plain"]
      await store.log.append(
        "s",
        lines.map((line, at) => ({ at, from: "agent", line })),
      )
      const before = await readWhole(store.log, "s")
      await compressHere(store, file)
      expect(await readWhole(store.log, "s")).toEqual(before)
      expect(coldEvents(file, "s")).toBeLessThanOrEqual(2)
      await store.log.append("short", [said("one short line")])
      await store.compression.compressAll()
      expect(coldEvents(file, "short")).toBe(0)
    }))

  it("[JL43] search finds and shows them, also with an index that is made anew", () =>
    withFile(async (file) => {
      const find = async (store: ReturnType<typeof openStore>) => {
        await store.search.caughtUp()
        const { hits } = await store.search.search({ q: "lamp", limit: 50 })
        return hits.map(({ session, seq, snippet }) => [session, seq, snippet])
      }
      const store = openStore({ file })
      for (const n of upTo(30)) await store.log.append(`s${n % 3}`, [said(`lamp number ${n}`), said("nothing")])
      const before = await find(store)
      expect(before).toHaveLength(30)
      await compressHere(store, file)
      expect(coldEvents(file, "s1")).toBe(20)
      expect(await find(store)).toEqual(before)
      await store.close()
      withDatabase(file, (database) =>
        database.run("UPDATE store_marks SET value = value + 1 WHERE name = 'identity'", []),
      )
      const next = openStore({ file })
      expect(await find(next)).toEqual(before)
      await next.close()
    }))

  it("[JL44] a block of events that are gone, or compressed already, is refused and changes nothing", () =>
    withStore(async (store, file) => {
      await store.log.append("s", numberedEvents(10))
      const whole = await readWhole(store.log, "s")
      const session = withDatabase(file, (database) => Number(database.get("SELECT max(session) FROM events", [])?.[0]))
      const block = { session, from: 0, upTo: 11, seqs: upTo(11), rawBytes: 1000, body: new Uint8Array() }
      await expect(store.compression.keep(block)).rejects.toMatchObject({ code: "store/failed" })
      await expect(store.compression.keep({ ...block, seqs: [], from: 5 })).rejects.toMatchObject({
        code: "store/failed",
      })
      expect(await readWhole(store.log, "s")).toEqual(whole)
      expect(store.compression.bytes).toEqual({ before: 0, after: 0 })
      await compressHere(store, file)
      expect(await readWhole(store.log, "s")).toEqual(whole)
    }))

  it("[JL45] a thread compresses them by itself, and what comes later too; reads go on, and so does writing", () =>
    withStore(
      async (store, file) => {
        const turns = recordedTurns(40)
        await store.log.append("s", turns)
        await expect.poll(() => coldEvents(file, "s"), { timeout: 10_000 }).toBe(turns.length)
        await store.log.append("s", [said("again ".repeat(500))])
        await expect.poll(() => coldEvents(file, "s"), { timeout: 10_000 }).toBe(turns.length + 1)
        const { before, after } = store.compression.bytes
        expect(before).toBeGreaterThan(4 * after)
        expect((await readWhole(store.log, "s")).slice(0, -1)).toEqual(
          turns.map((event, index) => ({ ...event, seq: index + 1 })),
        )
      },
      { compression: { firstAfterMs: 1, everyMs: 20, endedMs: 0, othersMs: 0 } },
    ))

  it("[JL45] it rests between blocks while others write", () =>
    withStore(async (store) => {
      await store.log.append("s", recordedTurns(15))
      const traffic = setInterval(() => void store.log.append("busy", [said("now", Date.now())]), 5)
      const begun = performance.now()
      await store.compression.compressAll()
      clearInterval(traffic)
      expect(performance.now() - begun).toBeGreaterThan(250)
      await store.journal.flush()
    }))

  it("[JL45] a store that is closed meanwhile closes at once, and nothing is lost", () =>
    withFile(async (file) => {
      const turns = recordedTurns(80)
      const first = openStore({ file })
      await first.log.append("s", turns)
      const compressing = first.compression.compressAll()
      await expect.poll(() => first.compression.bytes.before, { interval: 5, timeout: 10_000 }).toBeGreaterThan(0)
      await first.close()
      await compressing
      const next = openStore({ file })
      expect(coldEvents(file, "s")).toBeLessThan(turns.length)
      await next.compression.compressAll()
      expect(coldEvents(file, "s")).toBe(turns.length)
      expect((await readWhole(next.log, "s")).map(({ line }) => line)).toEqual(turns.map(({ line }) => line))
      await next.close()
    }))

  it("[JL45] what keeps it from compressing is told, and the next round goes on", () =>
    withStore(async (store, file) => {
      await store.log.append("s", recordedTurns(15))
      const database = openDatabase(file)
      const troubles: string[] = []
      const onTrouble = (error: unknown) => void troubles.push(String(error))
      const { journal } = store
      const lost = new Compression({ database, journal, file: join(file, "nowhere", "hub.db"), onTrouble })
      await lost.compressAll()
      await lost.close()
      expect(troubles).toHaveLength(1)
      await store.compression.compressAll()
      expect(coldEvents(file, "s")).toBeGreaterThan(0)
      await store.log.append("t", recordedTurns(15))
      journal.close()
      const refused = new Compression({ database, journal, file, onTrouble })
      await refused.compressAll()
      await refused.close()
      expect(troubles[1]).toContain("stopping")
      database.close()
    }))

  it("[JL46] a damaged block is told with its session and events; other events, other sessions and search are unharmed", () =>
    withStore(async (store, file) => {
      for (const session of ["harmed", "whole"]) await store.log.append(session, numberedEvents(200))
      await compressHere(store, file)
      await store.log.append("harmed", [said("a lamp")])
      withDatabase(file, (database) => {
        const [kept] = database.get("SELECT body FROM event_blocks WHERE id = 1", []) ?? []
        if (!(kept instanceof Uint8Array)) throw new Error("the block is not there")
        const body = Buffer.from(kept)
        body[40] = 255 - (body[40] ?? 0)
        database.run("UPDATE event_blocks SET body = ? WHERE id = 1", [body])
      })
      await expect(store.log.read("harmed", { limit: 5 })).rejects.toMatchObject({
        code: "store/failed",
        message: expect.stringMatching(/^Session harmed .* block 1 \(events 1 to 128\) is damaged/),
      })
      expect(await store.log.sizes("harmed", { limit: 5 })).toHaveLength(5)
      expect(seqs(await store.log.read("harmed", { after: 128, limit: 100 }))).toEqual(upTo(73, 129))
      expect(seqs(await readWhole(store.log, "whole"))).toEqual(upTo(200))
      expect((await store.log.append("harmed", [numberedEvents(1)[0] ?? said("")])).stored).toEqual([])
      await store.search.caughtUp()
      const { hits } = await store.search.search({ q: "lamp", limit: 5 })
      expect(hits.map(({ session, seq }) => [session, seq])).toEqual([["harmed", 201]])
      withDatabase(file, (database) => database.run("DELETE FROM event_blocks WHERE id = 1", []))
      await expect(store.log.read("harmed", { limit: 5 })).rejects.toThrow("the block of event 1 is damaged")
    }))

  it("[JL47] a session of ordinary turns takes at most a third of what it took", () =>
    withStore(async (store, file) => {
      await store.log.append("s", recordedTurns(150))
      const pages = () =>
        withDatabase(file, (database) => {
          const [all, free] = ["page_count", "freelist_count"].map((name) =>
            Number(database.get(`PRAGMA ${name}`, [])?.[0]),
          )
          return (all ?? 0) - (free ?? 0)
        })
      const before = pages()
      await store.compression.compressAll()
      expect(pages() / before).toBeLessThan(1 / 3)
    }))

  it("[JL49] the blocks of a session are dropped after its events, some at a time, and count no longer", () =>
    withStore(async (store, file) => {
      for (const session of ["gone", "kept"]) await store.log.append(session, numberedEvents(300))
      await compressHere(store, file)
      const { before, after } = store.compression.bytes
      withDatabase(file, (database) => {
        const gone = Number(database.get("SELECT id FROM log_sessions WHERE name = 'gone'", [])?.[0])
        database.run("DELETE FROM events WHERE session = ?", [gone])
        const drop = () => dropBlocks(database, gone, 2)
        expect([drop(), drop(), drop()]).toEqual([2, 1, 0])
      })
      expect(store.compression.bytes.before).toBe(before / 2)
      expect(store.compression.bytes.after).toBeLessThan(after)
      expect(seqs(await readWhole(store.log, "kept"))).toEqual(upTo(300))
      expect(await readWhole(store.log, "gone")).toEqual([])
    }))
})
