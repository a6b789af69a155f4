import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      usage: { inputTokens: 500_000, outputTokens: 50_000 },
      steps: [{ tool: "Bash", input: { command: "echo dear" } }, { say: "Dear." }],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "spend", options: { ...basics(), maxBudgetUsd: 0.01, allowedTools: ["Bash"] } }))
}
