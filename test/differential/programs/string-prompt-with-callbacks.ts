import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "touch one" } },
        { tool: "Write", input: { file_path: "two", content: "2" } },
        { tool: "Read", input: { file_path: "two" } },
        { say: "All done." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "three tools",
      options: {
        ...basics(),
        canUseTool: async (name, input, { decisionReason, blockedPath, title, displayName, description }) => {
          observe("asked", { name, decisionReason, blockedPath, title, displayName, description })
          return { behavior: "allow", updatedInput: input }
        },
        hooks: {
          PreToolUse: [{ hooks: [async (input) => (observe("hook", input), {})] }],
          PostToolUse: [{ hooks: [async (input) => (observe("hook", input), {})] }],
        },
      },
    }),
  )
}
