import { type Options, query, type SessionStore, startup } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const resume = "d1ff0000-0000-4000-8000-000000000001"
const entries = [{ type: "user", uuid: "d1ff0000-0000-4000-8000-0000000000aa" }]
const never = () => new Promise<never>(() => {})
const broken = async () => {
  throw new Error("the store is down")
}

/** A store that fails or never answers is told of, and nothing is started. */
export async function run(): Promise<void> {
  const append = async () => {}
  const load = async () => entries
  const stores: Record<string, SessionStore> = {
    "load fails": { append, load: broken },
    "load hangs": { append, load: never },
    "subkeys fail": { append, load, listSubkeys: broken },
    "subkeys hang": { append, load, listSubkeys: never },
    "a subagent hangs": {
      append,
      load: (key) => (key.subpath === undefined ? load() : never()),
      listSubkeys: async () => ["subagents/agent-x"],
    },
    empty: { append, load: async () => [] },
  }
  const base = { ...basics(), pathToClaudeCodeExecutable: fake("tells-its-files"), loadTimeoutMs: 200 }
  for (const [what, sessionStore] of Object.entries(stores)) {
    observe("store", what)
    await watch(query({ prompt: "hello", options: { ...base, resume, sessionStore } }))
  }
  const listing: Record<string, Options["sessionStore"]> = {
    "no list": { append, load },
    "the list fails": { append, load, listSessions: broken },
    "the list hangs": { append, load, listSessions: never },
  }
  for (const [what, sessionStore] of Object.entries(listing))
    await attempt(what, async () => {
      for await (const message of query({ prompt: "hello", options: { ...base, continue: true, sessionStore } }))
        observe("message", message)
    })
  await attempt("startup", () => startup({ options: { ...base, resume, sessionStore: { append, load: broken } } }))
}
