import { type PermissionResult, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "rm -rf build" } }, { say: "Done." }] }],
}

export async function run(): Promise<void> {
  const answer: PermissionResult = { behavior: "allow", updatedInput: { command: "echo harmless" } }
  await watch(query({ prompt: "clean up", options: { ...basics(), canUseTool: async () => answer } }))
}
