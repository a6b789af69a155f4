import { describe, expect, it } from "vitest"
import type { EventLog } from "../store/event-log.ts"
import type { Store } from "../store/open-store.ts"
import { keptSession } from "./records.ts"
import { describeSearchFilterContract } from "./search-filter-contract.ts"
import { type StoreSetup, withStoreOf } from "./store-setup.ts"

const AT = Date.parse("2030-01-01T00:00:00.000Z")

const said = (text: string) => ({
  type: "assistant",
  message: { role: "assistant", content: [{ type: "text", text }] },
})
const asked = (content: string) => ({ type: "user", message: { role: "user", content } })
const used = (name: string, input: unknown) => ({
  type: "assistant",
  message: { content: [{ type: "tool_use", id: "t", name, input }] },
})
const gave = (content: unknown) => ({
  type: "user",
  message: { content: [{ type: "tool_result", tool_use_id: "t", content }] },
})
const thought = (thinking: string) => ({ type: "assistant", message: { content: [{ type: "thinking", thinking }] } })

function append(log: EventLog, session: string, ...messages: readonly unknown[]): Promise<unknown> {
  const events = messages.map((message) => ({ at: AT, from: "agent", line: JSON.stringify(message) }) as const)
  return log.append(session, events)
}

async function find(store: Store, q: string, session?: string): Promise<string[]> {
  await store.search.caughtUp()
  const { hits } = await store.search.search({ q, limit: 50, ...(session === undefined ? {} : { session }) })
  return hits.map((hit) => `${hit.session} ${hit.seq} ${hit.field}`)
}

/** The rules of docs/spec/event-log.md on search, which hold for every store. */
export function describeSearchContract(name: string, open: () => Promise<StoreSetup>): void {
  const withStore = withStoreOf(open)

  describeSearchFilterContract(name, withStore)

  describe(`search contract: ${name}`, () => {
    it("[FT1] finds what was said and thought, what tools were given and what they gave back", () =>
      withStore(async (store) => {
        await append(
          store.log,
          "s",
          asked("please mend the signal lamp"),
          thought("the lamp needs a new bulb"),
          used("Bash", { command: "replace --lamp 4", options: { deep: ["lamplight", 42] } }),
          gave("lamp replaced"),
          gave([
            { type: "text", text: "the lamp burns" },
            { type: "image", source: { data: "lamp" } },
          ]),
          said("The LAMP is mended."),
          { type: "result", subtype: "success", result: "a lamp, mended" },
          { type: "control_request", request_id: "r", request: { subtype: "elicitation", message: "which lamp?" } },
          { type: "system", subtype: "init", cwd: "/lamp" },
          { type: "keep_alive" },
        )
        const fields = ["text", "result", "text", "result", "result", "input", "thinking", "text"]
        const seqs = [8, 7, 6, 5, 4, 3, 2, 1]
        expect(await find(store, "lamp ")).toEqual(fields.map((field, index) => `s ${seqs[index]} ${field}`))
        expect(await find(store, "bash")).toEqual(["s 3 input"])
        expect(await find(store, "lamplight 42")).toEqual(["s 3 input"])
      }))

    it("[FT1] a line that is no JSON, or no message, is passed over", () =>
      withStore(async (store) => {
        const lines = [
          "lamp",
          '"lamp"',
          "[]",
          "{",
          "null",
          '{"type":"assistant"}',
          '{"type":"user","message":"lamp"}',
          "lamp\0",
        ]
        await store.log.append(
          "s",
          [...lines, JSON.stringify(said("lamp"))].map((line) => ({ at: AT, from: "agent", line })),
        )
        expect(await find(store, "lamp")).toEqual([`s ${lines.length + 1} text`])
      }))

    it("[FT2] all words must be there; the last may be unfinished; accents and case do not count; quotes keep words together", () =>
      withStore(async (store) => {
        await append(store.log, "s", said("Über den Fluss"), said("den alten Fluss"), said("src/store/journal.ts"))
        expect(await find(store, "uber fluss")).toEqual(["s 1 text"])
        expect(await find(store, "fluss den")).toEqual(["s 2 text", "s 1 text"])
        expect(await find(store, "flu")).toEqual(["s 2 text", "s 1 text"])
        expect(await find(store, "flu den")).toEqual([])
        expect(await find(store, '"den fluss"')).toEqual(["s 1 text"])
        expect(await find(store, "store/jour")).toEqual(["s 3 text"])
        expect(await find(store, "journal/store")).toEqual([])
      }))

    it("[FT2] hits come newest first, of one session if one is named, no more than asked for", () =>
      withStore(async (store) => {
        await append(store.log, "a", said("lamp one"))
        await append(store.log, "b", said("lamp two"))
        await append(store.log, "a", said("lamp three"))
        expect(await find(store, "lamp")).toEqual(["a 2 text", "b 1 text", "a 1 text"])
        expect(await find(store, "lamp", "a")).toEqual(["a 2 text", "a 1 text"])
        expect(await find(store, "lamp", "nobody's")).toEqual([])
        const { hits } = await store.search.search({ q: "lamp", limit: 1 })
        expect(hits).toEqual([
          { session: "a", seq: 2, at: "2030-01-01T00:00:00.000Z", field: "text", snippet: "«lamp» three" },
        ])
        expect((await store.search.search({ q: "lamp", limit: 0 })).hits).toEqual([])
      }))

    it("[FT3] whatever is typed is looked for; nothing in it is an operator and nothing fails", () =>
      withStore(async (store) => {
        await append(store.log, "s", said("a lamp and a signal near the tracks"))
        await store.directory.saveSession(keptSession("s", { title: "lamps" }))
        await store.search.caughtUp()
        const hostile = [
          '"',
          '""',
          "'",
          "*",
          "lamp*",
          "lamp OR",
          "NOT lamp",
          "lamp AND",
          "(",
          "lamp)",
          "body:lamp",
          "-lamp",
          "^lamp",
        ]
        const more = [
          "{a}:b",
          "NEAR(lamp",
          "lamp + signal",
          "",
          "  ",
          "😀",
          "lamp 😀",
          "\0",
          "a\0b",
          "\ud800",
          "x".repeat(10_000),
          "é́́",
        ]
        for (const q of [...hostile, ...more]) await store.search.search({ q, limit: 10 })
        expect(await find(store, 'lamp" signal')).toEqual(["s 1 text"])
        expect(await find(store, "lamp 😀")).toEqual(["s 1 text"])
        expect(await find(store, "😀")).toEqual([])
        expect(await find(store, "lamp NOT signal")).toEqual([])
      }))

    it("[FT4] what was not indexed when the process ended is indexed by the next, and nothing twice", () =>
      withStore(async (first, { reopen }) => {
        const messages = Array.from({ length: 2000 }, (_, n) => said(`lamp number${n}`))
        await append(first.log, "s", ...messages.slice(0, 1000))
        await first.search.caughtUp()
        await append(first.log, "s", ...messages.slice(1000))
        const second = await reopen()
        await second.search.caughtUp()
        expect((await second.search.search({ q: "lamp", limit: 1 })).indexedTo).toBe(2000)
        for (const n of [0, 999, 1999]) expect(await find(second, `number${n} `)).toEqual([`s ${n + 1} text`])
      }))

    it(
      "[FT5] indexing goes in small steps and tells how far it has come",
      () =>
        withStore(async ({ log, search }) => {
          await append(log, "s", ...Array.from({ length: 20_000 }, (_, n) => said(`lamp ${n}`)))
          const reached = new Set<number>()
          const look = async () => {
            const { indexedTo } = await search.search({ q: "lamp", limit: 1 })
            reached.add(indexedTo)
            return indexedTo
          }
          await expect.poll(look, { interval: 1, timeout: 110_000 }).toBe(20_000)
          // How often one gets to look is the machine's business.
          expect(reached.size).toBeGreaterThan(1)
          // No step takes more than 200 events.
          expect([...reached].filter((n) => n % 200 !== 0)).toEqual([])
        }),
      120_000,
    )

    it("[FT5] of a very long text the first part is searched, and others do not wait for it", () =>
      withStore(async (store) => {
        const long = `begin ${"filler ".repeat(300_000)} end`
        await append(store.log, "s", said(long), said("short"))
        expect(await find(store, "begin ")).toEqual(["s 1 text"])
        expect(await find(store, "end ")).toEqual([])
        expect(await find(store, "short ")).toEqual(["s 2 text"])
      }))

    it("[FT6] sessions are found by the title they have now, before all else", () =>
      withStore(async (store) => {
        await append(store.log, "s", said("about lamps"))
        await store.directory.saveSession(keptSession("s", { title: "Old lamps" }))
        await store.directory.saveSession(keptSession("t"))
        expect(await find(store, "lamps")).toEqual(["s 0 title", "s 1 text"])
        await store.directory.saveSession(keptSession("s", { title: "Signals" }))
        await store.directory.saveSession(keptSession("t", { title: "New lamps" }))
        expect(await find(store, "lamps")).toEqual(["t 0 title", "s 1 text"])
        expect(await find(store, "lamps", "s")).toEqual(["s 1 text"])
        await store.directory.saveSession(keptSession("t", { title: null }))
        expect(await find(store, "lamps")).toEqual(["s 1 text"])
      }))

    it("[FT7] a snippet is one line around the first word found, with the words marked", () =>
      withStore(async (store) => {
        const around = (middle: string) => `${"before ".repeat(50)}${middle}${" after".repeat(50)}`
        await append(store.log, "s", said(around("the\nRed  lámp, the red lamps")), said("😀".repeat(100) + " lamp"))
        await store.search.caughtUp()
        const { hits } = await store.search.search({ q: '"red lamp"', limit: 5 })
        expect(hits).toHaveLength(1)
        const snippet = hits[0]?.snippet ?? ""
        expect(snippet).toMatch(/^….*before the «Red» «lámp», the «red» lamps after.*…$/)
        expect(snippet.length).toBeLessThan(250)
        const [emoji] = (await store.search.search({ q: "lamp", limit: 1 })).hits
        expect(emoji?.snippet).toMatch(/^…(?:😀){29,31} «lamp»$/u)
      }))
  })
}
