import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { hasPostgres, testServer } from "../../../../test/postgres/server.ts"
import { describeSearchContract } from "../../src/testing/index.ts"
import { withStoreOf } from "../../src/testing/store-setup.ts"
import { openPostgres, rowsIn } from "./postgres-database.ts"

if (hasPostgres) describeSearchContract("PostgreSQL", openPostgres)

const withStore = withStoreOf(openPostgres)

/** The one database of this file. */
const currentUrl = async () => (await testServer()).url("test_1")

const said = (text: string) => ({
  at: 1,
  from: "agent" as const,
  line: JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } }),
})

describe.runIf(hasPostgres)("search on PostgreSQL", () => {
  it("[PQ11] phrases and words are found wherever they stand, however long text and word are", () =>
    withStore(async ({ log, search }) => {
      const many = Array.from({ length: 15_000 }, (_, n) => `w${n % 7}`).join(" ")
      const letters = "k".repeat(900)
      const syllables = Array.from({ length: 11_000 }, (_, n) => String.fromCodePoint(0xac00 + n))
      await log.append("s", [
        said(`${many} the red lamp ${many.slice(0, 40_000)}`),
        said(`the lamp red ${letters}x`),
        said(`${syllables.join(" ")} end`),
        said("left\0 \ud800 right"),
      ])
      await search.caughtUp()
      const find = async (q: string) => (await search.search({ q, limit: 50 })).hits.map(({ seq }) => seq)
      expect(await find('"red lamp"')).toEqual([1])
      expect(await find('"lamp red"')).toEqual([2])
      expect(await find('"w0 w1 w2"')).toEqual([1])
      expect(await find('"w0 w2"')).toEqual([])
      expect(await find(`${letters}x `)).toEqual([2])
      expect(await find(`${letters}y `)).toEqual([])
      expect(await find(letters.slice(0, 500))).toEqual([2])
      expect(await find("end ")).toEqual([3])
      expect(await find(`${syllables.at(-1)} `)).toEqual([3])
      expect(await find("left right")).toEqual([4])
    }))

  it("[FT3] whatever is typed is looked for, and nothing fails", () =>
    withStore(async ({ log, search }) => {
      await log.append("s", [said("a lamp")])
      const odd = fc.constantFrom("'", "\\", ":", "*", "&", "|", "!", "<->", "(", ")", '"', " ", "a", "\0", "é", "😀")
      const anything = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: odd }))
      await fc.assert(
        fc.asyncProperty(anything, async (q) => void (await search.search({ q, limit: 5 }))),
        { numRuns: 300 },
      )
    }))

  it("[PQ10] [PQ12] the index can be emptied, and fills again from where each log is", () =>
    withStore(async ({ log, search }, { reopen }) => {
      for (const session of ["a", "b", "c"]) await log.append(session, [said("one lamp"), said("two lamps")])
      await search.caughtUp()
      const url = await currentUrl()
      await rowsIn(url, "DELETE FROM signalbox.search_text")
      await rowsIn(url, "DELETE FROM signalbox.search_logs")
      const again = await reopen()
      await again.search.caughtUp()
      const { hits, indexedTo } = await again.search.search({ q: "lamp", limit: 50 })
      expect(hits.map(({ session, seq }) => `${session} ${seq}`)).toEqual(["c 2", "c 1", "b 2", "b 1", "a 2", "a 1"])
      expect(indexedTo).toBe(6)
    }))

  it("[PQ12] nothing of a purged session is left in the index", () =>
    withStore(async ({ log, search, purger }) => {
      await log.append(
        "gone",
        Array.from({ length: 1_200 }, (_, n) => said(`lamp ${n}`)),
      )
      await log.append("kept", [said("lamp")])
      await search.caughtUp()
      await log.purge("gone")
      const found = await search.search({ q: "lamp", limit: 50 })
      expect(found.hits.map(({ session }) => session)).toEqual(["kept"])
      purger.wake()
      await purger.settled()
      const url = await currentUrl()
      expect(await rowsIn(url, "SELECT count(*)::int AS rows FROM signalbox.search_text")).toEqual([{ rows: 1 }])
      expect(await rowsIn(url, "SELECT count(*)::int AS rows FROM signalbox.search_logs")).toEqual([{ rows: 1 }])
    }))
})
