import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "It is noon." }] }] }

/** What the hook adds must reach the model. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "What time is it?",
      options: {
        ...basics(),
        hooks: {
          UserPromptSubmit: [
            {
              hooks: [
                async (input) => {
                  observe("hook", input)
                  return {
                    hookSpecificOutput: {
                      hookEventName: "UserPromptSubmit",
                      additionalContext: "The clock shows 12:00.",
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
