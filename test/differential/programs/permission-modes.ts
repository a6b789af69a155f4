import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Write", input: { file_path: "x", content: "x" } },
        { tool: "Bash", input: { command: "rm x" } },
        { say: "Done." },
      ],
    },
  ],
}

/** Nobody to ask: what a mode does not allow is denied. */
export async function run(): Promise<void> {
  await watch(query({ prompt: "try", options: { ...basics(), permissionMode: "default" } }))
  await watch(query({ prompt: "try", options: { ...basics(), permissionMode: "dontAsk" } }))
}
