import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Done." }] }] }

/** The CLI refuses this mode to root; how it says so must be the same. */
export async function run(): Promise<void> {
  const options = { ...basics(), permissionMode: "bypassPermissions" as const, allowDangerouslySkipPermissions: true }
  await watch(query({ prompt: "try", options }))
}
