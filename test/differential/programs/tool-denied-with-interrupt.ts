import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "rm -rf build" } }, { say: "Never said." }] }],
}

export async function run(): Promise<void> {
  const options = {
    ...basics(),
    canUseTool: async () => ({ behavior: "deny" as const, message: "Stop it all.", interrupt: true }),
  }
  await watch(query({ prompt: "clean up", options }))
}
