import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ repeat: true, stop: "refusal" as const, steps: [{ say: "I would" }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "something bad", options: basics() }))
}
