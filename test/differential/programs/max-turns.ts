import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "echo one" } },
        { tool: "Bash", input: { command: "echo two" } },
        { say: "Never said." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "twice", options: { ...basics(), maxTurns: 1, allowedTools: ["Bash"] } }))
}
