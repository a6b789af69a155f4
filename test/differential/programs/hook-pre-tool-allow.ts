import { type HookCallback, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch made" } }, { say: "Made." }] }],
}

/** Allowed by the hook: `canUseTool` must not be asked. */
export async function run(): Promise<void> {
  const allow: HookCallback = async () => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" },
  })
  await watch(
    query({
      prompt: "make it",
      options: {
        ...basics(),
        hooks: { PreToolUse: [{ hooks: [allow] }] },
        canUseTool: async (name) => {
          observe("asked", name)
          return { behavior: "deny", message: "not asked for" }
        },
      },
    }),
  )
}
