import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { databaseIn, lastBackupIn, openAsIs } from "../../../src/store/database.ts"
import { readWhole, upTo } from "../../../src/testing/events.ts"
import { auditRecord } from "../../../src/testing/records.ts"
import { backUpData, restoreData } from "../../../src/upkeep.ts"
import { eventsOf, fill, inFolders, SESSIONS, withStoreIn } from "./data-folder.ts"

const MAY_BE_GONE = { throwIfNoEntry: false } as const

describe("a backup", () => {
  it("[BU1] [BU2] taken while the hub writes has everything confirmed before it, and of each session the first events without a hole", () =>
    inFolders(async (folder) => {
      const [data, other] = [folder("data"), folder("other")]
      const file = join(folder("backups"), "it's a backup.db")
      await fill(data, 400)
      const lines = await withStoreIn(data, async ({ log }) => {
        const state = { isDone: false }
        const backup = backUpData(data, file).finally(() => {
          state.isDone = true
        })
        for (let n = 401; !state.isDone; n++)
          for (const session of SESSIONS) await log.append(session, eventsOf(session, 1, n))
        const report = await backup
        expect(report).toMatchObject({ file, bytes: statSync(file).size, rows: { sessions: 3 } })
        expect(report.rows["events"]).toBeGreaterThanOrEqual(1_200)
        return Promise.all(SESSIONS.map(async (session) => (await readWhole(log, session)).map(({ line }) => line)))
      })
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readdirSync(folder("backups"))).toEqual(["it's a backup.db"])
      await restoreData(file, other)
      await withStoreIn(other, async ({ log, directory }) => {
        for (const [index, session] of SESSIONS.entries()) {
          const events = await readWhole(log, session)
          expect(events.length).toBeGreaterThanOrEqual(400)
          expect(events.map(({ seq }) => seq)).toEqual(upTo(events.length))
          expect(events.map(({ line }) => line)).toEqual(lines[index]?.slice(0, events.length))
          expect((await log.append(session, events)).stored, "keys are known").toEqual([])
          expect((await directory.getSession(session))?.record.title).toBe(`session ${session}`)
        }
      })
      expect(statSync(databaseIn(other)).mode & 0o777).toBe(0o600)
    }))

  it("[BU2] sessions that are purged meanwhile are no reason to refuse the copy", () =>
    inFolders(async (folder) => {
      const [data, backups] = [folder("data"), folder("backups")]
      await fill(data, 4_000)
      await withStoreIn(data, async ({ log, directory }) => {
        const backup = backUpData(data, join(backups, "b.db"))
        const audit = auditRecord("session/purged", "three")
        await Promise.all([directory.purgeSession("three", audit), log.purge("three")])
        for (let isMore = true; isMore; ) isMore = await log.purgeSome()
        const written = () => readdirSync(backups).map((name) => statSync(join(backups, name), MAY_BE_GONE)?.size ?? 0)
        while (!written().some((bytes) => bytes > 0)) await nextTurn()
        // Rows went before the copy began, and more come before it is done.
        await log.append("one", eventsOf("one", 5_000, 4_001))
        const { rows } = await backup
        expect(rows["events"]).toBeGreaterThanOrEqual(8_000)
      })
    }))

  it("[BU19] of a file that an older version made can be shrunk, also by the hub that gets it", () =>
    inFolders(async (folder) => {
      const [data, other, file] = [folder("data"), folder("other"), join(folder("backups"), "b.db")]
      await fill(data, 400)
      const old = openAsIs(databaseIn(data))
      old.exec("PRAGMA auto_vacuum = NONE; VACUUM")
      expect(old.get("PRAGMA auto_vacuum", [])).toEqual([0])
      const changes = () => old.get("PRAGMA data_version", [])
      const before = changes()
      await backUpData(data, file)
      expect([changes(), old.get("PRAGMA auto_vacuum", [])], "the file itself is left as it is").toEqual([before, [0]])
      old.close()
      await restoreData(file, other)
      const restored = openAsIs(databaseIn(other))
      expect(restored.get("PRAGMA auto_vacuum", [])).toEqual([2])
      restored.close()
      await withStoreIn(other, async (store) => {
        const { bytes } = store.size()
        await Promise.all(SESSIONS.map((session) => store.log.purge(session)))
        store.purger.wake()
        await store.purger.settled()
        expect(store.size().bytes).toBeLessThan(bytes / 2)
      })
    }))

  it("[BU20] leaves its time behind for the hub's metrics, and one that fails does not", () =>
    inFolders(async (folder) => {
      const [data, backups] = [folder("data"), folder("backups")]
      await fill(data, 5)
      const startedAt = Date.now()
      await expect(backUpData(data, join(backups, "no/folder"))).rejects.toMatchObject({ code: "data/unwritable" })
      expect(existsSync(lastBackupIn(data))).toBe(false)
      await backUpData(data, join(backups, "b.db"))
      expect(Date.parse(readFileSync(lastBackupIn(data), "utf8").trim())).toBeGreaterThanOrEqual(startedAt)
    }))

  it("[BU5] another process that reads and closes the database leaves the write-ahead log to the hub", () =>
    inFolders(async (folder) => {
      const data = folder("data")
      await fill(data, 5)
      await withStoreIn(data, async ({ log, search }) => {
        // By now every connection of a hub was opened.
        await search.caughtUp()
        await log.append("one", eventsOf("one", 1, 6))
        const { ino } = statSync(`${databaseIn(data)}-wal`)
        const reads =
          'const d = new (require("libsql"))(process.argv[1]); d.prepare("SELECT count(*) FROM events").all(); d.close()'
        for (const lastSeq of [6, 7]) {
          execFileSync(process.execPath, ["-e", reads, databaseIn(data)])
          expect(statSync(`${databaseIn(data)}-wal`).ino).toBe(ino)
          expect((await log.append("one", eventsOf("one", 1, lastSeq + 1))).lastSeq).toBe(lastSeq + 1)
        }
      })
    }))
})
