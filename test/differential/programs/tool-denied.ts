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
        canUseTool: async (name, input, { toolUseID }) => {
          observe("asked", { name, input, toolUseID })
          return { behavior: "deny", message: "Not today." }
        },
      },
    }),
  )
}
