import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ error: 529, type: "overloaded_error", message: "busy" }, { say: "Here I am." }] }],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "hello", options: basics() }))
}
