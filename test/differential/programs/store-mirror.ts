import { query, type SessionKey, type SessionStore, type SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const own = "-p/d1ff0000-0000-4000-8000-000000000001"
const other = "-p/d1ff0000-0000-4000-8000-000000000002"
const lines = (count: number) => Array.from({ length: count }, (_, n) => ({ type: "x", n }))

/** What goes into which append: portions of one transcript together, or each by itself; much of it before the result. */
export async function run(): Promise<void> {
  const plans = {
    several: [
      { path: `${own}.jsonl`, entries: lines(2) },
      { path: `${other}.jsonl`, entries: lines(1) },
      { says: "between" },
      { path: `${own}.jsonl`, entries: lines(3) },
      { path: `${own}/subagents/agent-a.jsonl`, entries: lines(1) },
      { path: `${own}/subagents/flows/w/agent-b.jsonl`, entries: lines(1) },
    ],
    odd: [
      { path: "nowhere.jsonl", entries: lines(1) },
      { path: "../elsewhere/x.jsonl", entries: lines(1) },
      { path: `${own}/title.json`, entries: lines(1) },
      { path: "-p/no-uuid.jsonl", entries: lines(1) },
    ],
    many: [
      { path: `${own}.jsonl`, entries: lines(500) },
      { path: `${own}.jsonl`, entries: lines(1) },
      { path: `${own}.jsonl`, entries: lines(2) },
    ],
  }
  for (const sessionStoreFlush of ["batched", "eager"] as const)
    for (const [what, plan] of Object.entries(plans)) {
      observe("plan", { what, sessionStoreFlush })
      const sessionStore: SessionStore = {
        async append(key: SessionKey, entries: SessionStoreEntry[]) {
          observe("append", { key, count: entries.length })
        },
        load: async () => null,
      }
      const options = { ...basics(), pathToClaudeCodeExecutable: fake("mirrors"), sessionStore, sessionStoreFlush }
      await watch(query({ prompt: JSON.stringify(plan), options }))
    }
}
