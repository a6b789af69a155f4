import { mkdirSync, renameSync, rmdirSync, statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { purgedEvents } from "../../../../test/gate.ts"
import { openDatabase } from "../../src/store/database.ts"
import { convertIfSmall } from "../../src/store/file-size.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { openStore, type Store } from "../../src/store/open-store.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { allow, policyOf, record, test } from "../../src/testing/past-requests.ts"
import { purgeAll } from "../../src/testing/purge-contract.ts"
import { auditRecord, keptSession } from "../../src/testing/records.ts"
import { compressHere, openReopenable, withFile, withStore } from "./store-folder.ts"

const AUDIT = auditRecord("session/purged", "s")

function said(words: string, count: number) {
  const line = JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: words }] } })
  return numberedEvents(count).map((event) => ({ ...event, line }))
}

async function purge(store: Store, session = "s"): Promise<void> {
  await Promise.all([store.directory.purgeSession(session, AUDIT), store.log.purge(session)])
}

/** Rows that another connection finds in the file. */
function counted(file: string, table: string): number {
  const database = openDatabase(file)
  try {
    return Number(database.get(`SELECT count(*) FROM ${table}`, [])?.[0])
  } finally {
    database.close()
  }
}

describe("a store from which sessions are purged", () => {
  it(
    `[PG10] another session's writes are committed between the steps of a purge of ${purgedEvents} events`,
    () =>
      withStore(async (store) => {
        await store.directory.saveSession(keptSession("s", { state: "ended" }))
        for (let from = 1; from <= purgedEvents; from += 5_000) await store.log.append("s", numberedEvents(5_000, from))
        const { events } = store.size()
        await purge(store)
        store.purger.wake()
        const left: number[] = []
        for (let n = 1; left.at(-1) !== 0; n++) {
          await store.log.append("other", numberedEvents(1, n))
          left.push(store.size().events - n)
        }
        await store.purger.settled()
        expect(events).toBe(purgedEvents)
        expect(left.at(-1)).toBe(0)
        // Each sees less of it than the one before, and none sees much go at once.
        const steps = left.slice(1).map((now, index) => (left[index] ?? 0) - now)
        expect(Math.max(...steps)).toBeLessThanOrEqual(2_000)
        expect(steps.length).toBeGreaterThan(purgedEvents / 1_000)
        expect(seqs(await readWhole(store.log, "other"))).toEqual(upTo(left.length))
      }),
    240_000,
  )

  it("[PG1] what was compressed is purged too", async () => {
    const { store, file, dispose } = await openReopenable()
    await store.directory.saveSession(keptSession("s", { state: "ended" }))
    await store.log.append("s", said("over and over again", 2_000))
    await store.log.append("other", said("over and over again", 2_000))
    await compressHere(store, file)
    const blocks = counted(file, "event_blocks")
    expect(blocks).toBeGreaterThan(1)
    await purge(store)
    await purgeAll(store.log)
    expect(counted(file, "event_blocks")).toBe(blocks / 2)
    expect(await readWhole(store.log, "s")).toEqual([])
    expect(seqs(await readWhole(store.log, "other"))).toEqual(upTo(2_000))
    await dispose()
  })

  it("[PG11] a purge that was interrupted goes on by itself when the store is opened again", async () => {
    const { store, reopen, dispose } = await openReopenable()
    await store.directory.saveSession(keptSession("s", { state: "ended" }))
    await store.log.append("s", numberedEvents(5_000))
    await purge(store)
    await store.log.purgeSome()
    expect(store.size().events).toBe(4_500)
    const later = await reopen()
    await expect.poll(() => later.size().events, { timeout: 10_000 }).toBe(0)
    await dispose()
  })

  it("[PG11] nothing is left in any table, and keys that waited for the index do not come back into it", () =>
    withFile(async (file) => {
      const store = openStore({ file })
      await store.directory.saveSession(keptSession("s", { state: "ended" }))
      // Some of them are in the index, some wait for it.
      await store.log.append("s", numberedEvents(6_000))
      await store.log.append("other", numberedEvents(10))
      await purge(store)
      await purgeAll(store.log)
      await store.log.append("third", numberedEvents(6_000))
      await store.journal.flush()
      await store.close()
      const later = openStore({ file })
      later.purger.wake()
      await later.purger.settled()
      expect((await later.log.append("third", numberedEvents(6_000))).stored).toEqual([])
      await later.close()
      expect(counted(file, "purges") + counted(file, "purged_logs")).toBe(0)
      expect(
        counted(file, "event_keys WHERE session NOT IN (SELECT id FROM log_sessions WHERE name IN ('other', 'third'))"),
      ).toBe(0)
      expect(counted(file, "events WHERE line = ''")).toBeLessThanOrEqual(1)
    }))

  it("[PG4] a search finds nothing of a purged session from that moment, and the index forgets it", () =>
    withFile(async (file) => {
      const find = async (store: Store, q: string) => (await store.search.search({ q, limit: 50 })).hits.length
      const store = openStore({ file })
      await store.directory.saveSession(keptSession("s", { state: "ended", title: "a secret title" }))
      await store.log.append("other", said("about gardens", 5))
      await store.log.append("s", said("a secret word", 700))
      await store.search.caughtUp()
      expect([await find(store, "secret"), await find(store, "gardens")]).toEqual([50, 5])
      await purge(store)
      expect([await find(store, "secret"), await find(store, "gardens")]).toEqual([0, 5])
      store.purger.wake()
      await store.purger.settled()
      // Its events were the last of all: those that come now are found all the same.
      await store.log.append("third", said("about roofs", 3))
      await store.search.caughtUp()
      expect([await find(store, "secret"), await find(store, "roofs")]).toEqual([0, 3])
      await store.close()
      const index = openDatabase(join(dirname(file), "search.db"))
      expect(index.all("SELECT rowid FROM event_text WHERE event_text MATCH 'secret'", [])).toEqual([])
      const made = statSync(join(dirname(file), "search.db")).ino
      index.close()
      // The index still belongs to the log.
      const later = openStore({ file })
      await later.search.caughtUp()
      expect([await find(later, "gardens"), await find(later, "roofs")]).toEqual([5, 3])
      await later.close()
      expect(statSync(join(dirname(file), "search.db")).ino).toBe(made)
    }))

  it("[PG12] no event gets the number of a purged one, and no session the number of a purged log", () =>
    withFile(async (file) => {
      const store = openStore({ file })
      const ids = () => {
        const database = openDatabase(file)
        const numbers = database.all(
          "SELECT events.id, log_sessions.id FROM events JOIN log_sessions ON log_sessions.id = events.session WHERE name = 'new'",
          [],
        )
        database.close()
        return numbers
      }
      for (const round of [1, 2, 3]) {
        await store.directory.saveSession(keptSession("s", { state: "ended" }))
        await store.log.append("s", numberedEvents(10))
        await purge(store)
        store.purger.wake()
        await store.purger.settled()
        expect(store.size().events, `round ${round}`).toBe(0)
      }
      await store.log.append("new", numberedEvents(2))
      expect(store.size().events).toBe(2)
      const [[firstId, number] = []] = ids()
      expect(Number(firstId)).toBeGreaterThan(30)
      expect(Number(number)).toBeGreaterThan(4)
      await store.close()
    }))

  it("[PG13] the file shrinks when sessions were purged, also one that an older version made", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      old.exec("PRAGMA auto_vacuum = NONE; VACUUM")
      migrate(old)
      expect(old.get("PRAGMA auto_vacuum", [])).toEqual([0])
      convertIfSmall(old, 1_000)
      expect(old.get("PRAGMA auto_vacuum", []), "too large to be changed in passing").toEqual([0])
      old.close()
      const store = openStore({ file })
      const empty = store.size().bytes
      await store.directory.saveSession(keptSession("s", { state: "ended" }))
      for (let n = 0; n < 10; n++)
        await store.log.append(
          "s",
          said(`${n}`.repeat(100_000), 10).map((e, i) => ({ ...e, key: `${n} ${i}` })),
        )
      expect(store.size()).toMatchObject({ canShrink: true, events: 100 })
      expect(store.size().bytes).toBeGreaterThan(8_000_000)
      await purge(store)
      store.purger.wake()
      await store.purger.settled()
      expect(store.size()).toMatchObject({ freeBytes: 0, events: 0 })
      expect(store.size().bytes).toBeLessThan(empty + 100_000)
      await store.close()
      expect(statSync(file).size).toBeLessThan(empty + 100_000)
    }))

  it("[PG13] the file shrinks while a long purge goes on, and no name of a purged log is left", () =>
    withFile(async (file) => {
      const store = openStore({ file })
      const ids = Array.from({ length: 400 }, (_, n) => `s${n}`)
      await Promise.all(ids.map((id) => store.directory.saveSession(keptSession(id, { state: "ended" }))))
      await Promise.all(ids.map((id) => store.log.append(id, said("x".repeat(20_000), 1))))
      const whole = store.size().bytes
      await Promise.all(ids.map((id) => purge(store, id)))
      store.purger.wake()
      const isSmaller = () => store.size().events > 0 && store.size().bytes < whole - 1_000_000
      await expect.poll(isSmaller, { timeout: 10_000, interval: 1 }).toBe(true)
      await store.purger.settled()
      expect(store.size()).toMatchObject({ freeBytes: 0, events: 0 })
      await store.close()
      expect(counted(file, "purged_logs")).toBe(0)
      // The one that holds the last number of all, and the one that holds the last event's.
      expect(counted(file, "log_sessions")).toBe(2)
    }))

  it("[PG14] nothing of what was said is left in the file, also where it shared its pages with others", () =>
    withFile(async (file) => {
      const store = openStore({ file })
      await store.directory.saveSession(keptSession("s", { state: "ended", title: "said in confidence" }))
      for (let n = 0; n < 300; n++) {
        const at = { at: 1_700_000_000_000 + n, from: "agent" } as const
        await store.log.append("s", [
          { ...at, line: JSON.stringify({ type: "user", text: `said in confidence ${n}` }) },
        ])
        await store.log.append("other", [{ ...at, line: JSON.stringify({ type: "user", text: `for everybody ${n}` }) }])
      }
      await purge(store)
      store.purger.wake()
      await store.purger.settled()
      await store.close()
      const left = await readFile(file, "latin1")
      expect(left.split("for everybody").length).toBeGreaterThan(300)
      expect(left.split("said in confidence").length - 1).toBe(0)
    }))

  it("[PG13] while the search index cannot be opened a purge is done, and the index forgets later", () =>
    withFile(async (file) => {
      const [indexFile, aside] = ["search.db", "aside.db"].map((name) => join(dirname(file), name))
      if (indexFile === undefined || aside === undefined) throw new Error("no names")
      const first = openStore({ file })
      await first.directory.saveSession(keptSession("s", { state: "ended" }))
      await first.log.append("s", said("a secret word", 10))
      await first.log.append("other", said("about gardens", 1))
      await first.search.caughtUp()
      await first.close()
      // A folder in its place.
      renameSync(indexFile, aside)
      mkdirSync(indexFile)
      const troubles: unknown[] = []
      const store = openStore({ file, onPurgeTrouble: (error) => void troubles.push(error) })
      await purge(store)
      store.purger.wake()
      await store.purger.settled()
      expect(store.size().events).toBe(1)
      await store.close()
      expect(troubles).toHaveLength(1)
      expect(counted(file, "purged_logs")).toBe(1)
      rmdirSync(indexFile)
      renameSync(aside, indexFile)
      const secrets = "event_text WHERE event_text MATCH 'secret'"
      expect(counted(indexFile, secrets)).toBe(10)
      const later = openStore({ file })
      later.purger.wake()
      await later.purger.settled()
      await later.close()
      expect(counted(file, "purged_logs")).toBe(0)
      expect(counted(indexFile, secrets)).toBe(0)
    }))

  it("[PG5] requests of a purged session count as not testable in a policy test", () =>
    withStore(async (store) => {
      await record(store, [{ command: "make", session: "kept" }, { command: "npm test" }, { command: "ls" }])
      await store.directory.addSeenCall({
        sessionId: "s",
        toolUseId: "t",
        at: "2030-01-01T00:00:00.000Z",
        tool: "Bash",
        effect: "allow",
        seq: null,
        input: { command: "ls" },
      })
      await purge(store)
      await purgeAll(store.directory)
      await purgeAll(store.log)
      const result = await test(store, { proposed: policyOf(allow("make", "make")) })
      expect(result).toMatchObject({ requests: 1, notTestable: 3, noLongerAsked: { count: 1 } })
    }))
})
