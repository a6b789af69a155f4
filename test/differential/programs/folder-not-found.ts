import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  await watch(query({ prompt: "hello", options: { ...basics(), cwd: "/nowhere/at/all" } }))
}
