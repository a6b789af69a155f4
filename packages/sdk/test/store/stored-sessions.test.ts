import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ensureOfficialSdk } from "../../../../scripts/official-sdk.mjs"
import * as ours from "../../src/index.ts"

type Sdk = Pick<typeof ours, "foldSessionSummary" | "getSessionInfo" | "getSessionMessages" | "listSessions">

const OWN = "10000000-0000-4000-8000-000000000001"
const dir = "/nowhere/at/all"
const projectKey = "-nowhere-at-all"
const RUNS = 300

/** The official package is run here and never read; what it is typed as is what ours is. */
async function officialSdk(): Promise<Sdk> {
  const { entry } = await ensureOfficialSdk("0.3.325")
  return (await import(/* @vite-ignore */ entry)) as Sdk
}

const content = fc.oneof(
  fc.constantFrom(
    "hello",
    "",
    "  ",
    "<command-name>/x</command-name>",
    "<bash-input>ls</bash-input>",
    "<tag>x",
    "two\nlines",
  ),
  fc.string(),
  fc.constantFrom([{ type: "text", text: "block" }], [{ type: "tool_result", tool_use_id: "t", content: "r" }]),
)
const text = fc.constantFrom("", "a", "b")
const entry = fc.oneof(
  fc.record(
    {
      type: fc.constant("user"),
      message: fc.record({ role: fc.constant("user"), content }),
      isMeta: fc.boolean(),
      isSidechain: fc.boolean(),
      cwd: text,
      gitBranch: text,
      timestamp: fc.constantFrom("bad", "2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
    },
    { requiredKeys: ["type", "message"] },
  ),
  fc.record({ type: fc.constantFrom("custom-title", "x"), customTitle: text }),
  fc.record({ type: fc.constantFrom("ai-title", "x"), aiTitle: text }),
  fc.record({ type: fc.constantFrom("tag", "x"), tag: text }),
  fc.record({ type: fc.constant("summary"), summary: text }),
  fc.record({ type: fc.constant("last-prompt"), lastPrompt: text }),
)
const batches = fc.array(fc.array(entry, { maxLength: 5 }), { maxLength: 4 })

function folded(sdk: Sdk, all: ours.SessionStoreEntry[][]): ours.SessionSummaryEntry | undefined {
  let summary: ours.SessionSummaryEntry | undefined
  for (const [at, entries] of all.entries())
    summary = sdk.foldSessionSummary(summary, { projectKey, sessionId: OWN }, entries, { mtime: at })
  return summary
}

describe("sessions in a store", () => {
  it("[Y9] summaries of random sessions are the official ones, however they are cut", async () => {
    const official = await officialSdk()
    fc.assert(
      fc.property(batches, (all) => {
        expect(folded(ours, all)).toEqual(folded(official, all))
      }),
      { numRuns: RUNS },
    )
  })

  it("[Y8] random sessions are listed as the official SDK lists them, with summaries and without", async () => {
    const official = await officialSdk()
    await fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: -1, max: 1 }), async (all, age) => {
        const summary = folded(official, all)
        const plain = {
          append: async () => undefined,
          load: async () => all.flat(),
          listSessions: async () => [{ sessionId: OWN, mtime: all.length - 1 + age }],
        }
        const summed = { ...plain, listSessionSummaries: async () => (summary === undefined ? [] : [summary]) }
        for (const sessionStore of [plain, summed])
          expect(await ours.listSessions({ dir, sessionStore })).toEqual(
            await official.listSessions({ dir, sessionStore }),
          )
      }),
      { numRuns: RUNS },
    )
  })

  it("[Y8] a page is cut before anything is loaded, and archiving is refused", async () => {
    const loaded: string[] = []
    const ids = [1, 2, 3].map((n) => `10000000-0000-4000-8000-00000000000${n}`)
    const sessionStore: ours.SessionStore = {
      append: async () => undefined,
      load: async ({ sessionId }) => {
        loaded.push(sessionId)
        return [{ type: "user", message: { role: "user", content: "hello" } }]
      },
      listSessions: async () => ids.map((sessionId, mtime) => ({ sessionId, mtime })),
    }
    const page = await ours.listSessions({ dir, sessionStore, limit: 1, offset: 1 })
    expect(page.map(({ sessionId }) => sessionId)).toEqual([ids[1]])
    expect(loaded).toEqual([ids[1]])
    await expect(ours.archiveSession(OWN, { dir, sessionStore })).rejects.toMatchObject({ code: "session/unsupported" })
  })

  it("[Y10] a session that is not on disk cannot be imported", async () => {
    const store = new ours.InMemorySessionStore()
    await expect(ours.importSessionToStore(OWN, store, { dir })).rejects.toMatchObject({ code: "session/not-found" })
    await expect(ours.importSessionToStore("no id", store)).rejects.toMatchObject({ code: "session/bad-id" })
    expect(store.size).toBe(0)
  })
})
