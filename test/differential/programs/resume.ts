import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
  ],
}

/** The model must get the first turn again with the second. */
export async function run(): Promise<void> {
  let session = ""
  await watch(query({ prompt: "My name is Ada.", options: basics() }), (message) => {
    if (message.type === "result") session = message.session_id
  })
  await watch(query({ prompt: "What is my name?", options: { ...basics(), resume: session } }))
}
