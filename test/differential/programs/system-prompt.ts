import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Arr." }] }] }

/** What the model gets is observed by the harness. */
export async function run(): Promise<void> {
  await watch(query({ prompt: "speak", options: { ...basics(), systemPrompt: "You are a pirate." } }))
}
