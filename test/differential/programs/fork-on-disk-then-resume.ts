import { forkSession, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
  ],
}

/** The CLI must take a file that the SDK wrote. */
export async function run(): Promise<void> {
  let session = ""
  await watch(query({ prompt: "My name is Ada.", options: basics() }), (message) => {
    if (message.type === "result") session = message.session_id
  })
  const fork = await forkSession(session, { dir: context().cwd })
  observe("fork", { different: fork.sessionId !== session })
  await watch(query({ prompt: "What is my name?", options: { ...basics(), resume: fork.sessionId } }))
}
