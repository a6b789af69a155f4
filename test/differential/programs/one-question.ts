import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Four." }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "What is two and two?", options: basics() }))
}
