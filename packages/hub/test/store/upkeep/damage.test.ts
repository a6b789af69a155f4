import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { databaseIn } from "../../../src/store/database.ts"
import { openStore } from "../../../src/store/open-store.ts"
import { readWhole, upTo } from "../../../src/testing/events.ts"
import { checkData, salvageData } from "../../../src/upkeep.ts"
import { damageAndSave, damagePage, EVENTS, eventsOf, fill, inFolders, SESSIONS, withStoreIn } from "./data-folder.ts"

describe("a database that is not in use", () => {
  it("[BU8] is found sound, or damaged with how much of it can be saved", () =>
    inFolders(async (folder) => {
      const data = folder("data")
      expect(await checkData(data)).toEqual({ state: "absent" })
      await fill(data, EVENTS)
      expect(await checkData(data)).toMatchObject({ state: "sound", rows: { sessions: 3, events: 3 * EVENTS } })
      damagePage(data, "events")
      const found = await checkData(data)
      if (found.state !== "damaged") throw new Error(found.state)
      const events = found.readable.find(({ table }) => table === "events")
      expect(events?.lost).toBeGreaterThan(0)
      expect(events?.lost).toBeLessThan(50)
      expect((events?.saved ?? 0) + (events?.lost ?? 0)).toBe(3 * EVENTS)
      expect(found.readable.find(({ table }) => table === "sessions")).toMatchObject({ saved: 3, lost: 0 })
      writeFileSync(databaseIn(data), "not a database at all, but long enough to have a header".repeat(10))
      expect(await checkData(data)).toMatchObject({ state: "damaged", readable: [] })
    }))

  it("[BU8] is not checked if that takes minutes, unless it is asked for", () =>
    inFolders(async (folder) => {
      const data = folder("data")
      await fill(data, 5)
      // A hole at the end, which takes no room on the disk.
      truncateSync(databaseIn(data), 4 * 1024 ** 3 + 4096)
      expect(await checkData(data)).toMatchObject({ state: "unchecked" })
      expect(await checkData(data, Number.POSITIVE_INFINITY)).toMatchObject({ state: "sound", rows: { events: 15 } })
    }))
})

describe("a hub whose database is damaged", () => {
  it("[JL34] refuses what needs the damaged page, and says of which session; others go on, and nothing that was there is lost", () =>
    inFolders(async (folder) => {
      const [data, saved] = [folder("data"), folder("saved")]
      await fill(data, EVENTS)
      // The page in the middle has the end of the second session.
      damagePage(data, "events_by_seq")
      await withStoreIn(data, async ({ log, directory, journal }) => {
        const next = (session: string) => log.append(session, eventsOf(session, 1, EVENTS + 1))
        for (const once of ["in one transaction", "again"]) {
          const [one, two, three, kept] = await Promise.allSettled([
            next("one"),
            next("two"),
            next("three"),
            directory.putDocument(once, true, { synced: true }),
          ])
          expect([one, three, kept].map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"])
          expect(two).toMatchObject({
            status: "rejected",
            reason: {
              code: "store/failed",
              message: expect.stringMatching(/^Session two cannot be written: .*signalbox doctor.*signalbox salvage/),
            },
          })
          expect(journal.isStalled).toBe(false)
        }
        expect(await directory.getDocument("again")).toBe(true)
      })
      await salvageData(data, saved)
      await withStoreIn(saved, async ({ log }) => {
        const counts = await Promise.all(SESSIONS.map(async (session) => (await readWhole(log, session)).length))
        expect(counts).toEqual([EVENTS + 1, EVENTS, EVENTS + 1])
      })
    }))
})

describe("salvage", () => {
  it.each([
    ["an index", "events_by_seq"],
    ["the names of logs, which their index has too", "log_sessions"],
  ])("[BU9] loses nothing with a page of %s", (_, of) =>
    inFolders(async (folder) => {
      const { saved, check, report, lost } = await damageAndSave(folder, of)
      expect(check.state).toBe("damaged")
      expect([lost, report.notedEvents, report.madeSessions]).toEqual([{}, 0, 0])
      await withStoreIn(saved, async ({ log }) => {
        for (const session of SESSIONS) expect((await readWhole(log, session)).length).toBe(EVENTS)
      })
    }),
  )

  it("[BU10] makes the records of sessions anew from their events, and finds keys again", () =>
    inFolders(async (folder) => {
      const { saved, report } = await damageAndSave(folder, "sessions", "event_keys", "store_marks")
      expect(report.madeSessions).toBe(3)
      await withStoreIn(saved, async ({ log, directory, search }) => {
        for (const session of SESSIONS) {
          expect((await directory.getSession(session))?.record).toMatchObject({ id: session, state: "ended" })
          expect((await log.append(session, eventsOf(session, EVENTS))).stored).toEqual([])
        }
        await search.caughtUp()
        expect((await search.search({ q: "damaged", limit: 5 })).hits.length).toBeGreaterThan(0)
      })
    }))

  it("[BU9] says so when there is no database, when nothing of it can be found, and when there is one already", () =>
    inFolders(async (folder) => {
      const [data, saved] = [folder("data"), folder("saved")]
      await expect(salvageData(data, saved)).rejects.toMatchObject({ code: "data/missing" })
      await fill(data, 5)
      await fill(saved, 5)
      const taken = { code: "data/taken", message: expect.stringMatching(/already exists.*--to$/) }
      await expect(salvageData(data, saved)).rejects.toMatchObject(taken)
      const bytes = readFileSync(databaseIn(data))
      bytes.fill(0, 0, 4096)
      writeFileSync(databaseIn(data), bytes)
      await expect(salvageData(data, folder("another"))).rejects.toMatchObject({
        code: "data/damaged",
        message: expect.stringContaining("restore a backup"),
      })
      expect(existsSync(databaseIn(folder("another")))).toBe(false)
    }))

  it("[BU11] of a damaged write-ahead log uses what was committed before the damage", () =>
    inFolders(async (folder) => {
      const [data, killed, saved] = [folder("data"), folder("killed"), folder("saved")]
      const store = openStore({ file: databaseIn(data) })
      for (let n = 1; n <= 200; n++) await store.log.append("s", eventsOf("s", 1, n))
      for (const end of ["", "-wal"]) copyFileSync(databaseIn(data) + end, databaseIn(killed) + end)
      await store.close()
      const log = `${databaseIn(killed)}-wal`
      const bytes = readFileSync(log)
      const at = Math.floor(statSync(log).size * 0.8)
      bytes[at] = (bytes[at] ?? 0) ^ 0xff
      writeFileSync(log, bytes)
      expect(await checkData(killed)).toMatchObject({
        state: "damaged",
        why: expect.stringContaining("signalbox salvage"),
      })
      const report = await salvageData(killed, saved)
      expect(report.walDamagedAt).toBeGreaterThan(0)
      await withStoreIn(saved, async ({ log }) => {
        const events = await readWhole(log, "s")
        expect(events.map(({ seq }) => seq)).toEqual(upTo(events.length))
        expect(events.length).toBeGreaterThan(5)
        expect(events.length).toBeLessThan(200)
      })
    }))
})
