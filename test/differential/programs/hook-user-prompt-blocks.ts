import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  const hooks = {
    UserPromptSubmit: [{ hooks: [async () => ({ decision: "block" as const, reason: "not in this house" })] }],
  }
  await watch(query({ prompt: "a rude word", options: { ...basics(), hooks } }))
}
