import { InMemorySessionStore, query, startup } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, observe, watch } from "../program-context.ts"

const hello = { steps: [{ say: "Hello." }] }
export const scenario = { turns: [hello, hello] }

/** Times that are longer than a timer can be set to. */
export async function run(): Promise<void> {
  process.on("warning", ({ name }) => observe("warning", name))
  for (const initializeTimeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 40])
    await attempt(`startup within ${initializeTimeoutMs}`, async () => {
      const warm = await startup({ options: basics(), initializeTimeoutMs })
      warm.close()
    })
  const sessionStore = new InMemorySessionStore()
  let resume = ""
  await watch(query({ prompt: "hello", options: { ...basics(), sessionStore } }), (message) => {
    if (message.type === "result") resume = message.session_id
  })
  await watch(query({ prompt: "hello", options: { ...basics(), sessionStore, resume, loadTimeoutMs: 2 ** 31 } }))
}
