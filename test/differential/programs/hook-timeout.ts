import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "It did not run." }] }],
}

/** One second is all this hook gets; then its signal aborts. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "say it",
      options: {
        ...basics(),
        allowedTools: ["Bash"],
        hooks: {
          PreToolUse: [
            {
              timeout: 1,
              hooks: [
                async (_input, _toolUseID, { signal }) => {
                  await new Promise<void>((resolve) =>
                    signal.addEventListener("abort", () => resolve(), { once: true }),
                  )
                  observe("hook", { aborted: signal.aborted })
                  return {}
                },
              ],
            },
          ],
        },
      },
    }),
  )
}
