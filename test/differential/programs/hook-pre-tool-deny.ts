import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", id: "toolu_rm", input: { command: "rm -rf build" } }, { say: "Then not." }] }],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "clean up",
      options: {
        ...basics(),
        hooks: {
          PreToolUse: [
            {
              matcher: "Bash",
              hooks: [
                async (input, toolUseID, options) => {
                  observe("hook", { input, toolUseID, options: Object.keys(options) })
                  return {
                    hookSpecificOutput: {
                      hookEventName: "PreToolUse",
                      permissionDecision: "deny",
                      permissionDecisionReason: "no removing here",
                    },
                  }
                },
              ],
            },
          ],
        },
      },
    }),
  )
}
