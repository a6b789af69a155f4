import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "With bare hands." }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "try", options: { ...basics(), tools: [] } }))
}
