import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Done." }] }] }

export async function run(): Promise<void> {
  const settings = { permissions: { deny: ["Bash(touch:*)"] }, env: { FROM_SETTINGS: "1" } }
  await watch(query({ prompt: "try", options: { ...basics(), settings } }))
}
