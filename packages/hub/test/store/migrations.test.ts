import { writeFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { openDatabase } from "../../src/store/database.ts"
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
