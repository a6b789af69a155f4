import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "ExitPlanMode", input: { plan: "1. Paint it." } }, { say: "On with it." }] }],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "plan it",
      options: {
        ...basics(),
        permissionMode: "plan",
        canUseTool: async (name, input) => {
          observe("asked", { name, keys: Object.keys(input) })
          return {
            behavior: "allow",
            updatedInput: input,
            updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
          }
        },
      },
    }),
  )
}
