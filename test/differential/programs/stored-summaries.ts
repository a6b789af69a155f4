import {
  foldSessionSummary,
  InMemorySessionStore,
  listSessions,
  type SessionStoreEntry,
  type SessionSummaryEntry,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const key = { projectKey: "p", sessionId: "d1ff0000-0000-4000-8000-000000000001" }
const asked = (content: unknown, fields: Record<string, unknown> = {}): SessionStoreEntry => ({
  type: "user",
  message: { role: "user", content },
  ...fields,
})

const batches: Record<string, SessionStoreEntry[]> = {
  nothing: [],
  plain: [asked("hello", { timestamp: "2026-01-01T00:00:00Z", cwd: "/c", gitBranch: "b" })],
  "a subagent's": [asked("hello", { isSidechain: true }), asked("x", { isSidechain: false })],
  titles: [
    { type: "custom-title", customTitle: "A" },
    { type: "ai-title", aiTitle: "B" },
    { type: "tag", tag: "t" },
    { type: "summary", summary: "S" },
    { type: "last-prompt", lastPrompt: "L" },
    { type: "custom-title", customTitle: "" },
  ],
  "of other types": [{ type: "x", customTitle: "A", aiTitle: "B", tag: "T", summary: "S", lastPrompt: "L" }],
  untagged: [
    { type: "tag", tag: "t" },
    { type: "tag", tag: "" },
  ],
  "a command": [asked("<command-name>/foo</command-name>")],
  "a command, then more": [asked("<command-name>/foo</command-name>"), asked("real")],
  "a shell line": [asked("<bash-input>ls -l</bash-input>")],
  generated: [
    asked("x", { isMeta: true }),
    asked("y", { isCompactSummary: true }),
    asked("[Request interrupted by user]"),
  ],
  results: [
    asked([
      { type: "tool_result", tool_use_id: "a", content: "x" },
      { type: "text", text: "hey" },
    ]),
    asked([{ type: "text", text: "  two\nlines " }]),
  ],
  long: [asked("x".repeat(300))],
  times: [
    { type: "a", timestamp: "bad" },
    { type: "a", timestamp: "2026-01-01T00:00:01Z" },
    { type: "b", timestamp: "2020-01-01T00:00:01Z" },
  ],
  places: [
    { type: "a", cwd: "", gitBranch: "m" },
    { type: "a", cwd: "/x", gitBranch: "" },
    { type: "a", cwd: "/y" },
  ],
}

/** What a store keeps of each session, and what a list makes of it. */
export async function run(): Promise<void> {
  let folded: SessionSummaryEntry | undefined
  for (const [what, entries] of Object.entries(batches)) {
    const alone = foldSessionSummary(undefined, key, entries, { mtime: 5 })
    folded = foldSessionSummary(folded, key, entries)
    observe("fold", {
      what,
      data: alone.data,
      mtime: alone.mtime === 5,
      together: folded.data,
      own: folded.mtime === 0,
    })
    const sessionStore = {
      append: async () => {},
      load: async () => null,
      listSessions: async () => [{ sessionId: key.sessionId, mtime: 5 }],
      listSessionSummaries: async () => [alone],
    }
    await attempt(`list ${what}`, () => listSessions({ dir: "/nowhere", sessionStore }))
    await attempt(`list ${what}, outdated`, () =>
      listSessions({
        dir: "/nowhere",
        sessionStore: {
          ...sessionStore,
          listSessions: async () => [{ sessionId: key.sessionId, mtime: 6 }],
          load: async () => (observe("loaded", what), entries),
        },
      }),
    )
  }
  const kept = new InMemorySessionStore()
  await attempt("empty", () => kept.load(key))
  await kept.append(key, [asked("one")])
  await kept.append(key, [asked("two")])
  await kept.append({ ...key, subpath: "subagents/agent-a" }, [asked("aside")])
  await attempt("summaries", async () => (await kept.listSessionSummaries("p")).map(({ data }) => data))
  await attempt("entries", () => kept.getEntries(key))
  await attempt("size", () => kept.size)
  await attempt("subkeys", () => kept.listSubkeys(key))
  await kept.delete(key)
  await attempt("after delete", async () => [kept.size, await kept.listSubkeys(key), await kept.load(key)])
}
