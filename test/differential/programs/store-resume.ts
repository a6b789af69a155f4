import { InMemorySessionStore, type Options, query, type SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const first = "d1ff0000-0000-4000-8000-000000000001"
const second = "d1ff0000-0000-4000-8000-000000000002"
const line = (sessionId: string, text: string): SessionStoreEntry => ({
  type: "user",
  uuid: "d1ff0000-0000-4000-8000-0000000000aa",
  sessionId,
  message: { role: "user", content: text },
})

/** A fake CLI tells with which flags and files it was started. */
export async function run(): Promise<void> {
  const sessionStore = new InMemorySessionStore()
  const projectKey = context().cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")
  await sessionStore.append({ projectKey, sessionId: first }, [line(first, "one"), line(first, "two")])
  const aside = { projectKey, sessionId: first, subpath: "subagents/agent-x" }
  await sessionStore.append(aside, [
    { type: "agent_metadata", agentType: "old" },
    line(first, "aside"),
    { type: "agent_metadata", agentType: "new", toolUseId: "t" },
  ])
  await sessionStore.append({ ...aside, subpath: "../../../escaped" }, [line(first, "out")])
  await sessionStore.append({ projectKey, sessionId: second }, [line(second, "other")])
  const ways: Record<string, Partial<Options>> = {
    resume: { resume: first },
    continue: { continue: true },
    "resume and continue": { resume: first, continue: true },
    fork: { resume: first, forkSession: true, sessionId: "d1ff0000-0000-4000-8000-00000000000f" },
    "not in the store": { resume: "d1ff0000-0000-4000-8000-00000000000e" },
    "no id": { resume: "a title" },
    "a new one": { sessionId: "d1ff0000-0000-4000-8000-00000000000d" },
  }
  for (const [what, way] of Object.entries(ways)) {
    observe("way", what)
    const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-its-files"), sessionStore, ...way }
    await watch(query({ prompt: "hello", options }))
  }
  observe("way", "continue with nothing there")
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-its-files"), continue: true }
  await watch(query({ prompt: "hello", options: { ...options, sessionStore: new InMemorySessionStore() } }))
}
