import { type PermissionUpdate, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Bash", input: { command: "touch one.txt" } },
        { tool: "Bash", input: { command: "touch two.txt" } },
        { say: "Both made." },
      ],
    },
  ],
}

/** The first answer allows all of Bash for the session: there must be no second question. */
export async function run(): Promise<void> {
  const update: PermissionUpdate = {
    type: "addRules",
    rules: [{ toolName: "Bash" }],
    behavior: "allow",
    destination: "session",
  }
  await watch(
    query({
      prompt: "make two",
      options: {
        ...basics(),
        canUseTool: async (name, input, { suggestions }) => {
          observe("asked", { name, input, suggestions })
          return { behavior: "allow", updatedInput: input, updatedPermissions: [update] }
        },
      },
    }),
  )
}
