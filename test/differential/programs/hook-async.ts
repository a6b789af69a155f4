import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said." }] }] }

export async function run(): Promise<void> {
  const later = async () => {
    observe("hook", "goes on by itself")
    return { async: true as const, asyncTimeout: 2_000 }
  }
  await watch(
    query({
      prompt: "say it",
      options: { ...basics(), allowedTools: ["Bash"], hooks: { PreToolUse: [{ hooks: [later] }] } },
    }),
  )
}
