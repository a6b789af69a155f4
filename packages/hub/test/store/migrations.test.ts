import { writeFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { openDatabase } from "../../src/store/database.ts"
import { keySlot } from "../../src/store/key-slot.ts"
import { sql as first } from "../../src/store/migrations/001-first.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { openStore } from "../../src/store/open-store.ts"
import { withFile } from "./store-folder.ts"

describe("migrations", () => {
  it("[JL8] a file is brought up to date a step at a time, each once", () =>
    withFile(async (file) => {
      const steps = ["CREATE TABLE one (a)", "INSERT INTO one VALUES (1)", "INSERT INTO one VALUES (2)"]
      const database = openDatabase(file)
      migrate(database, steps.slice(0, 2))
      migrate(database, steps)
      migrate(database, steps)
      expect(database.all("SELECT a FROM one", [])).toEqual([[1], [2]])
      database.close()
    }))

  it("[JL8] a file of the first version keeps its events, their keys and its titles", () =>
    withFile(async (file) => {
      const old = openDatabase(file)
      migrate(old, [first])
      old.exec("INSERT INTO log_sessions (id, name) VALUES (1, 's')")
      const line = '{"type":"user","message":{"content":"an old lamp"}}'
      old.run("INSERT INTO events VALUES (1, 1, 1, 5, 'agent', NULL, 'a', ?, ?)", [keySlot("a"), line])
      old.run("INSERT INTO sessions VALUES (1, 's', 'Lamps', '2030-01-01T00:00:00.000Z', '{}', '{}')", [])
      old.close()
      const store = openStore({ file })
      expect(await store.log.find("s", "a")).toEqual({ seq: 1, at: 5, from: "agent", key: "a", line })
      const again = await store.log.append("s", [{ at: 6, from: "agent", key: "a", line }])
      expect(again).toEqual({ stored: [], lastSeq: 1 })
      await store.search.caughtUp()
      const { hits } = await store.search.search({ q: "lamp", limit: 5 })
      expect(hits.map(({ seq, field }) => `${seq} ${field}`)).toEqual(["0 title", "1 text"])
      await store.close()
    }))

  it("[JL8] a step that fails leaves the file as it was before it", () =>
    withFile(async (file) => {
      const database = openDatabase(file)
      const steps = ["CREATE TABLE one (a)", "INSERT INTO one VALUES (1); INSERT INTO nowhere VALUES (1)"]
      expect(() => migrate(database, steps)).toThrow(expect.objectContaining({ code: "store/failed" }))
      expect(database.all("SELECT a FROM one", [])).toEqual([])
      expect(database.get("PRAGMA user_version", [])).toEqual([1])
      database.close()
    }))

  it("[JL8] a file from a newer version is refused, with what to do, and left alone", () =>
    withFile(async (file) => {
      await openStore({ file }).close()
      const newer = openDatabase(file)
      newer.exec("PRAGMA user_version = 999")
      newer.close()
      expect(() => openStore({ file })).toThrow(/newer version of Signalbox.*Start that version/)
    }))

  it("[JL8] a file that is no database, or in no folder, is refused with store/failed", () =>
    withFile(async (file) => {
      await writeFile(file, "not a database ".repeat(500))
      expect(() => openStore({ file })).toThrow(expect.objectContaining({ code: "store/failed" }))
      expect(() => openStore({ file: `${file}-folder/hub.db` })).toThrow(
        expect.objectContaining({ code: "store/failed" }),
      )
    }))
})
