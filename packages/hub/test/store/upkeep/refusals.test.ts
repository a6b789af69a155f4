import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import LibsqlDatabase from "libsql"
import { describe, expect, it, vi } from "vitest"
import { takeDataLock } from "../../../src/operations/data-lock.ts"
import { databaseIn } from "../../../src/store/database.ts"
import { nameFinished, writeFailure } from "../../../src/store/upkeep/database-file.ts"
import { backUpData, restoreData } from "../../../src/upkeep.ts"
import { contentOf, damagePage, fill, inFolders } from "./data-folder.ts"

const code = (name: string, message: RegExp) =>
  expect.objectContaining({ code: name, message: expect.stringMatching(message) })

function exec(file: string, sql: string): void {
  const database = new LibsqlDatabase(file)
  database.exec(sql)
  database.close()
}

describe("a backup that cannot be made", () => {
  it("[BU2] [BU4] never takes the place of a file, says why it fails, and leaves nothing then", () =>
    inFolders(async (folder) => {
      const data = folder("data")
      await fill(data, 50)
      const backups = folder("backups")
      writeFileSync(join(backups, "kept"), "mine")
      await expect(backUpData(data, join(backups, "kept"))).rejects.toEqual(code("data/taken", /already exists/))
      const newer = folder("newer")
      await fill(newer, 5)
      exec(databaseIn(newer), "PRAGMA user_version = 99")
      const noFolder = backUpData(data, join(backups, "no/such/folder"))
      await expect(noFolder).rejects.toEqual(code("data/unwritable", /there is no folder/))
      damagePage(data, "events")
      const failures: readonly (readonly [string, string, ReturnType<typeof code>])[] = [
        [data, "a", code("data/damaged", /is damaged .*signalbox doctor/)],
        [newer, "b", code("data/newer", /newer version of Signalbox \(its schema is 99/)],
        [folder("empty"), "c", code("data/missing", /has no database/)],
        [join(backups, "nowhere"), "d", code("data/missing", /has no database/)],
      ]
      for (const [from, name, error] of failures)
        await expect(backUpData(from, join(backups, name)), name).rejects.toEqual(error)
      expect(contentOf(backups)).toEqual({ kept: Buffer.from("mine").toString("base64") })
    }))

  it("[BU15] a file whose write-ahead log has something left in it gets no name", () =>
    inFolders(async (folder) => {
      const [partial, file] = [join(folder("here"), "partial"), join(folder("here"), "file")]
      for (const end of ["", "-wal"]) writeFileSync(partial + end, "written")
      expect(() => nameFinished(partial, file)).toThrow(code("data/failed", /not written to its end/))
      writeFileSync(`${partial}-wal`, "")
      expect(existsSync(file)).toBe(false)
      nameFinished(partial, file)
      expect(readFileSync(file, "utf8")).toBe("written")
    }))

  it("[BU4] a statement that SQLite does not understand is our mistake, and no damage", () => {
    const failure = (of: string) => writeFailure(Object.assign(new Error("why"), { code: of }), "/x/y.db").code
    expect(["SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB"].map(failure)).toEqual([
      "data/failed",
      "data/damaged",
      "data/damaged",
    ])
  })

  it("[BU3] removes what a killed one left, and nothing that somebody still writes", () =>
    inFolders(async (folder) => {
      const [data, backups] = [folder("data"), folder("backups")]
      await fill(data, 5)
      const dead = [".b.db.999999999.partial", ".b.db.999999999.partial-journal"]
      const others = [".b.db.1.partial", ".b.db.x.partial", ".c.db.999999999.partial"]
      for (const name of [...dead, ...others]) writeFileSync(join(backups, name), "half")
      await backUpData(data, join(backups, "b.db"))
      expect(readdirSync(backups).toSorted()).toEqual([...others, "b.db"].toSorted())
    }))
})

describe("a restore", () => {
  it("[BU6] refuses a directory that is in use or has a database, and changes nothing there", () =>
    inFolders(async (folder) => {
      const [data, used, full, left] = [folder("data"), folder("used"), folder("full"), folder("left")]
      const file = join(folder("backups"), "b.db")
      await fill(data, 5)
      await backUpData(data, file)
      const lock = takeDataLock(used)
      await expect(restoreData(file, used)).rejects.toEqual(code("start/locked", /in use by another hub/))
      lock.release()
      await fill(full, 5)
      const before = contentOf(full)
      await expect(restoreData(file, full)).rejects.toEqual(code("data/taken", /already exists.*--data/))
      expect(contentOf(full)).toMatchObject(before)
      for (const end of ["-wal", "-journal"]) {
        writeFileSync(databaseIn(left) + end, "of another database")
        await expect(restoreData(file, left)).rejects.toEqual(code("data/taken", new RegExp(`${end} already exists`)))
        rmSync(databaseIn(left) + end)
      }
      expect(existsSync(databaseIn(used)) || existsSync(databaseIn(left))).toBe(false)
      writeFileSync(databaseIn(left), "")
      const copied = vi.fn<() => void>()
      await expect(restoreData(file, left, copied)).rejects.toEqual(code("data/taken", /signalbox\.db already exists/))
      expect(copied, "before anything is copied").not.toHaveBeenCalled()
    }))

  it("[BU6] refuses a file that is no backup, is cut short, damaged or newer, and leaves no database", () =>
    inFolders(async (folder) => {
      const data = folder("data")
      const files = folder("files")
      await fill(data, 200)
      const good = join(files, "good")
      await backUpData(data, good)
      const make = (name: string, change: (path: string) => void) => {
        const path = join(files, name)
        writeFileSync(path, readFileSync(good))
        change(path)
        return path
      }
      const target = folder("target")
      const refused: readonly (readonly [string, ReturnType<typeof code>])[] = [
        [join(files, "absent"), code("data/missing", /no such file/)],
        [make("text", (path) => writeFileSync(path, "x".repeat(5_000))), code("data/no-backup", /not a database/)],
        [
          make("short", (path) => truncateSync(path, statSync(path).size - 4096)),
          code("data/no-backup", /should have/),
        ],
        [make("other", (path) => exec(path, "DROP TABLE tokens")), code("data/no-backup", /another program's/)],
        [make("newer", (path) => exec(path, "PRAGMA user_version = 99")), code("data/newer", /its schema is 99/)],
        [
          make("damaged", (path) => {
            const bytes = readFileSync(path)
            bytes.fill(0xff, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 4096)
            writeFileSync(path, bytes)
          }),
          code("data/no-backup", /damaged/),
        ],
        [make("running", (path) => writeFileSync(`${path}-wal`, "frames")), code("data/no-backup", /write-ahead log/)],
      ]
      for (const [file, error] of refused) {
        await expect(restoreData(file, target), file).rejects.toEqual(error)
        expect(readdirSync(target).filter((name) => name !== "lock")).toEqual([])
      }
      // Empty ones hold nothing that could get into it.
      for (const end of ["-wal", "-journal"]) writeFileSync(databaseIn(target) + end, "")
      expect((await restoreData(good, target)).rows).toMatchObject({ sessions: 3, events: 600 })
      expect(statSync(databaseIn(target)).mode & 0o777).toBe(0o600)
    }))

  it("[BU18] refuses a file whose schema anybody has added to or changed, before anything in it is run", () =>
    inFolders(async (folder) => {
      const [data, files, target] = [folder("data"), folder("files"), folder("target")]
      const good = join(files, "good")
      await fill(data, 3)
      await backUpData(data, good)
      const added: Readonly<Record<string, string>> = {
        trigger: "CREATE TRIGGER extra AFTER INSERT ON tokens BEGIN DELETE FROM audit; END",
        view: "CREATE VIEW extra AS SELECT * FROM tokens",
        table: "CREATE TABLE extra (x)",
        index: "CREATE INDEX extra ON audit (lower(body))",
      }
      for (const [kind, sql] of Object.entries(added)) {
        const file = join(files, kind)
        writeFileSync(file, readFileSync(good))
        exec(file, sql)
        const refusal = code("data/no-backup", new RegExp(`its ${kind} "extra" is not as a hub makes it`))
        await expect(restoreData(file, target), kind).rejects.toEqual(refusal)
      }
      const changed = join(files, "changed")
      writeFileSync(changed, readFileSync(good))
      exec(changed, "ALTER TABLE tokens ADD COLUMN more AS (upper(body))")
      await expect(restoreData(changed, target)).rejects.toEqual(code("data/no-backup", /its table "tokens" is not/))
      expect(readdirSync(target).filter((name) => name !== "lock")).toEqual([])
    }))
})
