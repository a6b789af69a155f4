import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ reply: [{ think: "Hm." }, { say: "Four." }] }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "Think.", options: { ...basics(), thinking: { type: "adaptive" }, effort: "low" } }))
  await watch(query({ prompt: "Do not.", options: { ...basics(), thinking: { type: "disabled" } } }))
}
