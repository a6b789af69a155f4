import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
  ],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "My name is Ada.", options: basics() }))
  await watch(query({ prompt: "What is my name?", options: { ...basics(), continue: true } }))
}
