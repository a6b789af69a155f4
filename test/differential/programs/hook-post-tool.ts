import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "echo fine" } },
        { tool: "Bash", input: { command: "exit 3" } },
        { say: "One fine, one not." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "two",
      options: {
        ...basics(),
        allowedTools: ["Bash"],
        hooks: {
          PostToolUse: [
            {
              hooks: [
                async (input) => {
                  observe("hook", input)
                  return { hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "noted by a hook" } }
                },
              ],
            },
          ],
          PostToolUseFailure: [{ hooks: [async (input) => (observe("hook", input), {})] }],
        },
      },
    }),
  )
}
