import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "go on", options: { ...basics(), resume: "d1ff0000-0000-4000-8000-0000000000ff" } }))
}
