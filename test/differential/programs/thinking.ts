import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ reply: [{ think: "Hm, two and two." }, { say: "Four." }] }] }] }

export async function run(): Promise<void> {
  const options = { ...basics(), maxThinkingTokens: 2_000, includePartialMessages: true }
  await watch(query({ prompt: "Think.", options }))
}
