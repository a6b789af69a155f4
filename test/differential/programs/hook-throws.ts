import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said." }] }] }

export async function run(): Promise<void> {
  const broken = async () => {
    throw new Error("the hook broke")
  }
  await watch(
    query({
      prompt: "say it",
      options: { ...basics(), allowedTools: ["Bash"], hooks: { PreToolUse: [{ hooks: [broken] }] } },
    }),
  )
}
