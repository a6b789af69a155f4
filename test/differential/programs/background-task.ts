import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      on: "start",
      steps: [
        { tool: "Bash", id: "toolu_bg", input: { command: "sleep 1; echo over", run_in_background: true } },
        { say: "Started." },
      ],
    },
    { repeat: true, steps: [{ say: "It is over." }] },
  ],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "start it", options: { ...basics(), allowedTools: ["Bash"] } }))
}
