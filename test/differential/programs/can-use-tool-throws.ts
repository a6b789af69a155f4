import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "It failed." }] }],
}

export async function run(): Promise<void> {
  const canUseTool = async () => {
    throw new Error("nobody at the desk")
  }
  await watch(query({ prompt: "make it", options: { ...basics(), canUseTool } }))
}
