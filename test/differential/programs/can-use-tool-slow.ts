import { setTimeout as delay } from "node:timers/promises"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        {
          reply: [
            { tool: "Bash", id: "toolu_one", input: { command: "touch one" } },
            { tool: "Bash", id: "toolu_two", input: { command: "touch two" } },
          ],
        },
        { say: "Both." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "make two",
      options: {
        ...basics(),
        canUseTool: async (_name, input, { toolUseID }) => {
          observe("asked", toolUseID)
          await delay(700)
          return { behavior: "allow", updatedInput: input }
        },
      },
    }),
  )
}
