import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        {
          tool: "Bash",
          input: { command: 'echo "$MINE/$CLAUDE_CODE_ENTRYPOINT/$NODE_OPTIONS/$DEBUG/$CLAUDE_AGENT_SDK_VERSION"' },
        },
        { say: "Said." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  const env = { ...process.env, MINE: "yes", NODE_OPTIONS: "--no-warnings", DEBUG: "x" }
  await watch(query({ prompt: "env", options: { ...basics(), env, allowedTools: ["Bash"] } }))
  observe("own environment", { MINE: process.env["MINE"], entrypoint: process.env["CLAUDE_CODE_ENTRYPOINT"] })
}
