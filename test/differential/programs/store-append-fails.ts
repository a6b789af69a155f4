import { query, type SessionStore } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const own = "-p/d1ff0000-0000-4000-8000-000000000001"

/** An append that fails is tried again; then the program is told, and the query goes on. */
export async function run(): Promise<void> {
  const plan = [
    { path: `${own}.jsonl`, entries: [{ type: "x" }] },
    { path: `${own}/subagents/agent-a.jsonl`, entries: [{ type: "y" }] },
  ]
  const kinds: Record<string, (attempt: number) => unknown> = {
    always: () => new Error("no room"),
    once: (attempt) => (attempt === 1 ? new Error("no room") : undefined),
    "with a text": () => "no room",
  }
  for (const [kind, failure] of Object.entries(kinds)) {
    observe("kind", kind)
    let attempt = 0
    const sessionStore: SessionStore = {
      async append(key) {
        observe("append", key)
        const thrown = failure(++attempt)
        if (thrown !== undefined) throw thrown
      },
      load: async () => null,
    }
    const options = { ...basics(), pathToClaudeCodeExecutable: fake("mirrors"), sessionStore }
    await watch(query({ prompt: JSON.stringify(plan), options }))
  }
}
