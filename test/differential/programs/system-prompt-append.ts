import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Arr." }] }] }

export async function run(): Promise<void> {
  const systemPrompt = {
    type: "preset" as const,
    preset: "claude_code" as const,
    append: "End every sentence with Arr.",
  }
  await watch(query({ prompt: "speak", options: { ...basics(), systemPrompt } }))
  await watch(
    query({ prompt: "speak", options: { ...basics(), systemPrompt: { type: "preset", preset: "claude_code" } } }),
  )
}
