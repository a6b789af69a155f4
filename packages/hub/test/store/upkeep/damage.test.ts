import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
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
