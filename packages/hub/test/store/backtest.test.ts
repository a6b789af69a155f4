import { describe, expect, it } from "vitest"
import { openDatabase } from "../../src/store/database.ts"
import { describeBacktestContract } from "../../src/testing/index.ts"
import { policyOf, record, START, see, test } from "../../src/testing/past-requests.ts"
import { compressHere, openReopenable, withStore } from "./store-folder.ts"

describeBacktestContract("SQLite", openReopenable)

const ALL_DENIED = policyOf({ id: "none", effect: "deny" })

describe("backtest of cold sessions", () => {
  it("[JL42] the events of requests and calls stay in their rows when their session is cold, and are judged as before", () =>
    withStore(async (store, file) => {
      await record(store, [{ command: "asked" }, { command: "asked again" }])
      await see(store, { command: "called", minute: 5 })
      await store.log.append("s", [{ at: START, from: "agent", line: '{"type":"user"}' }])
      const before = await test(store, { proposed: ALL_DENIED })
      await compressHere(store, file)
      const database = openDatabase(file)
      const kept = database.all("SELECT typeof(line) FROM events ORDER BY seq", [])
      expect(kept.flat()).toEqual(["text", "text", "text", "integer"])
      // As if SQLite had not been able to read where an ask refers to: its line is in a block, and is found there.
      database.run("UPDATE log_sessions SET cold_to = 0", [])
      database.run("UPDATE asks SET session = 'elsewhere' WHERE id = 'ask0'", [])
      await compressHere(store, file)
      database.run("UPDATE asks SET session = 's' WHERE id = 'ask0'", [])
      expect(database.get("SELECT typeof(line) FROM events WHERE seq = 1", [])).toEqual(["integer"])
      database.close()
      expect(await test(store, { proposed: ALL_DENIED })).toEqual(before)
    }))
})
