import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch made.txt && ls" } }, { say: "Made." }] }],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "make it", options: { ...basics(), canUseTool: async () => ({ behavior: "allow" }) } }))
}
