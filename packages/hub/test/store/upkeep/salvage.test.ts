import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { takeDataLock } from "../../../src/operations/data-lock.ts"
import { databaseIn, openAsIs } from "../../../src/store/database.ts"
import { makeSchema } from "../../../src/store/migrations/index.ts"
import { readWhole, upTo } from "../../../src/testing/events.ts"
import { salvageData } from "../../../src/upkeep.ts"
import { damageAndSave, EVENTS, eventsOf, fill, inFolders, SESSIONS, withStoreIn } from "./data-folder.ts"

describe("salvage", () => {
  it("[BU9] [BU10] saves all but the damaged page; a note stands for each lost event, and numbers stay", () =>
    inFolders(async (folder) => {
      const { saved, report, lost: lostRows } = await damageAndSave(folder, "events")
      const { events: lost = 0, ...others } = lostRows
      expect(others).toEqual({})
      expect(lost).toBeGreaterThan(0)
      expect(report).toMatchObject({ notedEvents: lost, madeSessions: 0, unreadableBytes: 0 })
      await withStoreIn(saved, async ({ log, directory }) => {
        let notes = 0
        for (const session of SESSIONS) {
          const events = await readWhole(log, session)
          expect(events.map(({ seq }) => seq)).toEqual(upTo(EVENTS))
          const whole = eventsOf(session, EVENTS)
          const kept = events.filter(({ from }) => from === "agent")
          expect(kept.map(({ line }) => line)).toEqual(kept.map(({ seq }) => whole[seq - 1]?.line))
          const told = events.flatMap(({ line, from }) => (from === "hub" ? [JSON.parse(line)] : []))
          expect(told.every(({ type, subtype }) => type === "hub" && subtype === "events_lost")).toBe(true)
          const counts: readonly number[] = told.map(({ count = 0 }) => count)
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(counts.length)
          notes += counts.length
          const { stored, lastSeq } = await log.append(session, [
            ...whole.slice(0, 1),
            ...eventsOf(session, 1, EVENTS + 1),
          ])
          expect([stored.length, lastSeq], "goes on where it was").toEqual([1, EVENTS + 1])
          expect((await directory.getSession(session))?.record.title).toBe(`session ${session}`)
        }
        expect(notes).toBe(lost)
      })
    }))

  it("[BU13] runs nothing that the damaged file says, and takes over no table, view or trigger that is not a hub's", () =>
    inFolders(async (folder) => {
      const [data, saved] = [folder("data"), folder("saved")]
      const elsewhere = join(folder("elsewhere"), "made.db")
      await fill(data, 5)
      const schemaOf = (file: string, work = "") => {
        const database = openAsIs(file)
        try {
          if (work !== "") database.exec(work)
          return database.all("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name", [])
        } finally {
          database.close()
        }
      }
      const whole = schemaOf(databaseIn(data))
      const crafted = schemaOf(
        databaseIn(data),
        `CREATE TABLE foreign_table (x);
         CREATE VIEW foreign_view AS SELECT 1;
         CREATE TRIGGER foreign_trigger AFTER INSERT ON events BEGIN DELETE FROM tokens; END;
         PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = sql || '; ATTACH ''${elsewhere}'' AS made; CREATE TABLE made.x (y)' WHERE name LIKE 'foreign%';
         PRAGMA writable_schema = OFF`,
      )
      expect(crafted.filter(([, , sql]) => String(sql).includes("ATTACH"))).toHaveLength(3)
      const report = await salvageData(data, saved)
      expect(existsSync(elsewhere)).toBe(false)
      expect(schemaOf(databaseIn(saved))).toEqual(whole)
      expect(report.tables.find(({ table }) => table === "events")).toMatchObject({ saved: 15, lost: 0 })
    }))

  it.each([1, 3, 9])("[BU9] a file of schema %i is saved and brought up to date", (version) =>
    inFolders(async (folder) => {
      const [data, saved] = [folder("data"), folder("saved")]
      const database = openAsIs(databaseIn(data))
      makeSchema(database, version)
      database.exec(`
        INSERT INTO log_sessions (id, name) VALUES (1, 's');
        INSERT INTO events (session, seq, at, origin, line) VALUES (1, 1, 1, 'agent', '{}'), (1, 3, 1, 'agent', '{}');
      `)
      if (version < 4)
        database.exec("INSERT INTO sessions (id, title, updated_at, record, own) VALUES ('s', 't', 'then', '{}', '{}')")
      database.close()
      expect(await salvageData(data, saved)).toMatchObject({ notedEvents: 1 })
      await withStoreIn(saved, async (store) => {
        expect((await readWhole(store.log, "s")).map(({ seq }) => seq)).toEqual(upTo(3))
        expect(store.size().events).toBe(3)
      })
    }),
  )

  it("[BU16] holds the lock of the damaged directory while it copies: no hub starts there meanwhile", () =>
    inFolders(async (folder) => {
      const [data, saved] = [folder("data"), folder("saved")]
      await fill(data, 5)
      takeDataLock(data).release()
      const refusals = new Set<unknown>()
      await salvageData(data, saved, () => {
        try {
          takeDataLock(data, 0).release()
          refusals.add("none")
        } catch (error) {
          refusals.add(error instanceof Error && "code" in error ? error.code : error)
        }
      })
      expect([...refusals]).toEqual(["start/locked"])
      const lock = takeDataLock(data)
      await expect(salvageData(data, folder("other"))).rejects.toThrow(/a hub runs on .*signalbox down/)
      lock.release()
    }))
})
