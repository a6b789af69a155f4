import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Done." }] }, { steps: [{ say: "Really done." }] }] }

/** The first stop is refused with a reason, so the model goes on; the second is let through. */
export async function run(): Promise<void> {
  let stops = 0
  await watch(
    query({
      prompt: "do it",
      options: {
        ...basics(),
        hooks: {
          Stop: [
            {
              hooks: [
                async (input) => {
                  observe("hook", input)
                  return ++stops === 1 ? { decision: "block", reason: "have another look" } : {}
                },
              ],
            },
          ],
        },
      },
    }),
  )
}
