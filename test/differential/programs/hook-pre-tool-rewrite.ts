import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "rm -rf build" } }, { say: "Done." }] }],
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
              hooks: [
                async () => ({
                  hookSpecificOutput: {
                    hookEventName: "PreToolUse",
                    permissionDecision: "allow",
                    updatedInput: { command: "echo rewritten" },
                  },
                }),
              ],
            },
          ],
        },
      },
    }),
  )
}
