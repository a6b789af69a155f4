import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { say: "Word by word it comes.", deltas: 5 },
        { tool: "Bash", input: { command: "echo deltas" }, deltas: 3 },
        { say: "Done." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(
    query({ prompt: "slowly", options: { ...basics(), includePartialMessages: true, allowedTools: ["Bash"] } }),
  )
}
