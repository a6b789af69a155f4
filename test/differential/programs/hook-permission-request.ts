import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Made." }] }] }

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "make it",
      options: {
        ...basics(),
        hooks: {
          PermissionRequest: [
            {
              hooks: [
                async (input) => {
                  observe("hook", input)
                  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } } }
                },
              ],
            },
          ],
        },
      },
    }),
  )
}
