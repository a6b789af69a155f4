import { describe, expect, it } from "vitest"
import type { SearchQuery } from "../core.ts"
import type { Store } from "../store/open-store.ts"
import { purgeAll } from "./purge-contract.ts"
import { keptSession } from "./records.ts"
import type { WithStore } from "./store-setup.ts"

const DAY_MS = 86_400_000
const START = Date.parse("2030-01-01T00:00:00.000Z")
const day = (n: number) => new Date(START + n * DAY_MS).toISOString()

const said = (text: string) => ({ type: "assistant", message: { content: [{ type: "text", text }] } })
const used = (command: string) => ({
  type: "assistant",
  message: { content: [{ type: "tool_use", id: "t", name: "Bash", input: { command } }] },
})
const gave = (content: string) => ({
  type: "user",
  message: { content: [{ type: "tool_result", tool_use_id: "t", content }] },
})

async function append(store: Store, session: string, onDay: number, message: unknown): Promise<void> {
  await store.log.append(session, [{ at: START + onDay * DAY_MS, from: "agent", line: JSON.stringify(message) }])
}

/** Two sessions on two machines, an event a day. */
async function fill(store: Store): Promise<void> {
  await store.directory.saveSession(keptSession("on-a", { runner: "a", title: "Lamps", updatedAt: day(2) }))
  await store.directory.saveSession(keptSession("on-b", { runner: "b", updatedAt: day(3) }))
  await append(store, "on-a", 0, said("a lamp"))
  await append(store, "on-b", 1, used("mend the lamp"))
  await append(store, "on-a", 2, gave("lamp mended"))
  await append(store, "on-b", 3, said("the lamp burns"))
  await store.search.caughtUp()
}

async function find(store: Store, query: Omit<SearchQuery, "q" | "limit">, limit = 50): Promise<string[]> {
  const { hits } = await store.search.search({ q: "lamp", limit, ...query })
  return hits.map((hit) => `${hit.session} ${hit.seq} ${hit.field}`)
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  )

export function describeSearchFilterContract(name: string, withStore: WithStore): void {
  describe(`a search that is narrowed down: ${name}`, () => {
    it("[FT10] by the fields that count", () =>
      withStore(async (store) => {
        await fill(store)
        expect(await find(store, {})).toEqual([
          "on-a 0 title",
          "on-b 2 text",
          "on-a 2 result",
          "on-b 1 input",
          "on-a 1 text",
        ])
        expect(await find(store, { fields: ["title"] })).toEqual(["on-a 0 title"])
        expect(await find(store, { fields: ["input", "result"] })).toEqual(["on-a 2 result", "on-b 1 input"])
        expect(await find(store, { fields: ["thinking"] })).toEqual([])
      }))

    it("[FT10] by the runner that has the session", () =>
      withStore(async (store) => {
        await fill(store)
        expect(await find(store, { runner: "b" })).toEqual(["on-b 2 text", "on-b 1 input"])
        expect(await find(store, { runner: "a", fields: ["title", "text"] })).toEqual(["on-a 0 title", "on-a 1 text"])
        expect(await find(store, { runner: "a", session: "on-b" })).toEqual([])
        expect(await find(store, { runner: "nobody" })).toEqual([])
      }))

    it("[FT10] by the time of what was said, and of a session by its last change", () =>
      withStore(async (store) => {
        await fill(store)
        expect(await find(store, { from: day(2) })).toEqual(["on-a 0 title", "on-b 2 text", "on-a 2 result"])
        expect(await find(store, { from: day(1), to: day(2) })).toEqual(["on-b 1 input"])
        expect(await find(store, { from: day(9) })).toEqual([])
        expect(await find(store, { to: day(0) })).toEqual([])
      }))

    it("[FT10] [PG4] by time, also when the newest of all was purged before more was said", () =>
      withStore(async (store) => {
        await fill(store)
        await append(store, "s", 4, said("a lamp"))
        await append(store, "s", 4, said("a lamp"))
        await store.log.purge("s")
        await purgeAll(store.log)
        await append(store, "on-b", 5, said("a new lamp"))
        await store.search.caughtUp()
        const fields = ["text", "input", "result"] as const
        const sinceFirst = ["on-b 3 text", "on-b 2 text", "on-a 2 result", "on-b 1 input"]
        expect(await find(store, { fields, from: day(1) })).toEqual(sinceFirst)
        expect(await find(store, { fields, to: day(1) })).toEqual(["on-a 1 text"])
        expect(await find(store, { fields, from: day(4) })).toEqual(["on-b 3 text"])
      }))

    it("[FT10] over more sessions of one machine, among many of another, than one look takes in", () =>
      withStore(async (store) => {
        await fill(store)
        for (const session of ["c-1", "c-2"]) await store.directory.saveSession(keptSession(session, { runner: "c" }))
        await append(store, "c-1", 4, said("lamp of c"))
        await append(store, "c-2", 4, said("lamp of c"))
        const many = Array.from({ length: 1500 }, () => ({
          at: START + 5 * DAY_MS,
          from: "agent" as const,
          line: JSON.stringify(said("lamp")),
        }))
        await store.log.append("on-b", many)
        await store.search.caughtUp()
        expect(await find(store, { runner: "c" })).toEqual(["c-2 1 text", "c-1 1 text"])
      }))

    it("[FT11] a reply says whether there may be more, and until when everything can be found", () =>
      withStore(async (store) => {
        await fill(store)
        const before = Date.now()
        const all = await store.search.search({ q: "lamp", limit: 5 })
        expect(all).toMatchObject({ more: false, indexedTo: 4 })
        expect(Date.parse(all.indexedAt)).toBeGreaterThanOrEqual(before)
        const some = await store.search.search({ q: "lamp", limit: 4 })
        expect(some.hits).toHaveLength(4)
        expect(some.more).toBe(true)
        const only = await store.search.search({ q: "lamp", limit: 1, fields: ["title"] })
        expect(only.more).toBe(false)
      }))

    it("[FT9] no more than 64 wait for an answer; those who wait when the hub stops are told", () =>
      withStore(async (store) => {
        await append(store, "s", 0, said("lamp"))
        const searches = Array.from({ length: 65 }, () => outcome(store.search.search({ q: "lamp", limit: 5 })))
        expect(await Promise.all(searches)).toEqual([...Array(64).fill("done"), "hub/busy"])
        const last = outcome(store.search.search({ q: "lamp", limit: 5 }))
        await store.close()
        expect(await last).toBe("hub/stopping")
        expect(await outcome(store.search.caughtUp())).toBe("hub/stopping")
      }))
  })
}
