import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "That is a word with a slash." }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "/clear", options: { ...basics(), verbatimPrompts: true } }))
}
