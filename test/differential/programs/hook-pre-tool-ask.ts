import { type HookJSONOutput, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said." }] }],
}

export async function run(): Promise<void> {
  const ask: HookJSONOutput = {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "ask",
      permissionDecisionReason: "a hook wants to know",
    },
  }
  await watch(
    query({
      prompt: "say it",
      options: {
        ...basics(),
        allowedTools: ["Bash"],
        hooks: { PreToolUse: [{ hooks: [async () => ask] }] },
        canUseTool: async (name, input, { decisionReason, suggestions }) => {
          observe("asked", { name, input, decisionReason, suggestions })
          return { behavior: "allow", updatedInput: input }
        },
      },
    }),
  )
}
