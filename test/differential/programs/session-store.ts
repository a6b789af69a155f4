import { InMemorySessionStore, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
  ],
}

/** What the session wrote is mirrored into the program's store, and resumed out of it. */
export async function run(): Promise<void> {
  const sessionStore = new InMemorySessionStore()
  let session = ""
  await watch(query({ prompt: "My name is Ada.", options: { ...basics(), sessionStore } }), (message) => {
    if (message.type === "result") session = message.session_id
  })
  const projectKey = context().cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")
  const entries = await sessionStore.load({ projectKey, sessionId: session })
  // In which order the CLI writes its notes is a matter of its timing.
  observe("stored", [...new Set(entries?.map(({ type }) => type))].sort())
  await watch(query({ prompt: "What is my name?", options: { ...basics(), sessionStore, resume: session } }))
}
