import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "touch x" } },
        { tool: "Write", input: { file_path: "x", content: "" } },
        { say: "Done." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  const options = { ...basics(), allowedTools: ["Bash(touch:*)"], disallowedTools: ["Write"] }
  await watch(query({ prompt: "try", options }))
  await watch(query({ prompt: "try", options: { ...basics(), tools: ["Read", "Write"], allowedTools: ["Write"] } }))
}
