import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Never said." }] }],
}

export async function run(): Promise<void> {
  const halt = async () => ({ continue: false, stopReason: "enough", systemMessage: "a hook stops here" })
  await watch(
    query({
      prompt: "say it",
      options: { ...basics(), allowedTools: ["Bash"], hooks: { PostToolUse: [{ hooks: [halt] }] } },
    }),
  )
}
