import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "hello",
      options: {
        ...basics(),
        hooks: {
          SessionStart: [
            {
              hooks: [
                async (input) => {
                  observe("hook", input)
                  return { hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "It is raining." } }
                },
              ],
            },
          ],
        },
      },
    }),
  )
}
