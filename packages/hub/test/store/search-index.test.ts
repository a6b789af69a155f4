import { copyFile, mkdir, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import type { NewEvent } from "../../src/model/event.ts"
import { openStore, type Store } from "../../src/store/open-store.ts"
import { TextIndex } from "../../src/store/search/text-index.js"
import { numberedEvents } from "../../src/testing/events.ts"
import { purgeAll } from "../../src/testing/purge-contract.ts"
import { withFile, withStore } from "./store-folder.ts"

const said = (text: string): NewEvent => ({
  at: 1,
  from: "agent",
  line: JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } }),
})

const indexOf = (file: string) => join(dirname(file), "search.db")

async function withReopened<T>(file: string, run: (store: Store) => Promise<T>): Promise<T> {
  const store = openStore({ file })
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

async function find(store: Store, q: string): Promise<string[]> {
  await store.search.caughtUp()
  const { hits } = await store.search.search({ q, limit: 50 })
  return hits.map((hit) => `${hit.session} ${hit.seq}`)
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  )

describe("the search index", () => {
  it("[FT8] it is a file of its own; when it is deleted or broken it is made anew", () =>
    withFile(async (file) => {
      await withReopened(file, async (store) => {
        await store.log.append("s", [said("one lamp"), said("two lamps")])
        expect(await find(store, "lamp")).toEqual(["s 2", "s 1"])
      })
      expect((await stat(indexOf(file))).size).toBeGreaterThan(0)
      await rm(indexOf(file))
      expect(await withReopened(file, (store) => find(store, "lamp"))).toEqual(["s 2", "s 1"])
      await writeFile(indexOf(file), "no database ".repeat(1000))
      expect(await withReopened(file, (store) => find(store, "lamp"))).toEqual(["s 2", "s 1"])
    }))

  it("[FT8] an index of another log, or ahead of a log that lost its end, is made anew", () =>
    withFile(async (file) => {
      const open = (name: string) => join(dirname(file), name)
      await withReopened(file, async (store) => {
        await store.log.append("s", [said("first")])
        await find(store, "first")
      })
      await copyFile(file, open("earlier.db"))
      await withReopened(file, async (store) => {
        await store.log.append("s", [said("lost")])
        expect(await find(store, "lost")).toEqual(["s 2"])
      })
      await copyFile(open("earlier.db"), file)
      await withReopened(file, async (store) => {
        await store.log.append("t", [{ ...said("found"), at: 2 }])
        expect(await find(store, "lost")).toEqual([])
        expect(await find(store, "f")).toEqual(["t 1", "s 1"])
      })
      await withReopened(open("other.db"), async (store) => {
        await store.log.append("other", [said("first"), said("elsewhere")])
        expect(await find(store, "f")).toEqual(["other 1"])
      })
    }))

  it("[FT9] when its thread cannot work, searches are refused and the log goes on; it is started again when it can", () =>
    withFile(async (file) => {
      await mkdir(indexOf(file))
      await withReopened(file, async (store) => {
        const { lastSeq } = await store.log.append("s", [said("lamp")])
        expect(lastSeq).toBe(1)
        expect(await outcome(store.search.search({ q: "lamp", limit: 5 }))).toBe("store/failed")
        expect((await store.log.append("s", [said("lamp")])).lastSeq).toBe(2)
        await rm(indexOf(file), { recursive: true })
        expect(await find(store, "lamp")).toEqual(["s 2", "s 1"])
      })
    }))

  it("[FT9] a thread that keeps ending is not started without end", () =>
    withFile(async (file) => {
      await mkdir(indexOf(file))
      await withReopened(file, async (store) => {
        const search = () => store.search.search({ q: "lamp", limit: 5 })
        for (let n = 0; n < 5; n++) await expect(search()).rejects.toMatchObject({ code: "store/failed" })
        await expect(search()).rejects.toThrow(/thread keeps ending/)
      })
    }))

  it("[FT11] the time until which everything can be found is known also when what was indexed last is purged", () =>
    withStore(async (store, file) => {
      const [first, next] = [numberedEvents(200), numberedEvents(5, 201)]
      await store.log.append("s", first)
      await store.log.append("other", next)
      const index = new TextIndex(file, join(dirname(file), "behind.db"))
      try {
        index.step()
        expect(index.indexedTo).toBe(200)
        await store.log.purge("s")
        await purgeAll(store.log)
        const { indexedAt } = index.search({ q: "lamp", limit: 1 })
        expect(Date.parse(indexedAt)).toBe((next[0]?.at ?? 0) - 1)
      } finally {
        index.close()
      }
    }))
})
