import { importSessionToStore, query, type SessionStore } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        {
          tool: "Task",
          input: { subagent_type: "counter", description: "c", prompt: "Count them.", run_in_background: false },
        },
        { say: "There are none." },
      ],
    },
  ],
  side: { agent: "I counted none." },
}

const sessionId = "d1ff0000-0000-4000-8000-0000000000d1"

/** A session of the real CLI on disk is copied into a store, in portions. */
export async function run(): Promise<void> {
  const agents = { counter: { description: "Counts", prompt: "You count." } }
  for await (const message of query({ prompt: "count", options: { ...basics(), agents, sessionId } }))
    if (message.type === "result") observe("result", message.subtype)
  const dir = context().cwd
  for (const options of [{ dir }, { dir, includeSubagents: false }, { dir, batchSize: 5 }]) {
    const counts: Record<string, number[]> = {}
    const store: SessionStore = {
      async append({ subpath = "own" }, entries) {
        const name = subpath === "own" ? subpath : "aside"
        counts[name] = [...(counts[name] ?? []), entries.length]
        if (counts[name].length === 1) observe("types", [...new Set(entries.map(({ type }) => type))].sort())
      },
      load: async () => null,
    }
    await attempt("import", () => importSessionToStore(sessionId, store, options))
    observe("largest", Math.max(...Object.values(counts).flat()) <= (options.batchSize ?? 500))
    observe("parts", Object.keys(counts))
  }
  const store = { append: async () => {}, load: async () => null }
  await attempt("not there", () => importSessionToStore("d1ff0000-0000-4000-8000-0000000000ff", store, { dir }))
  await attempt("no id", () => importSessionToStore("no id", store, { dir }))
  await attempt("fails", () =>
    importSessionToStore(sessionId, { ...store, append: () => Promise.reject(new Error("no room")) }, { dir }),
  )
}
