import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, gate, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        {
          reply: [
            { say: "Both." },
            { tool: "Bash", input: { command: "touch one" } },
            { tool: "Bash", input: { command: "touch two" } },
          ],
        },
        { say: "One was made." },
      ],
    },
  ],
}

/** Two calls in one message: each is asked for by itself, one is allowed and the other is not. */
export async function run(): Promise<void> {
  const asked = gate()
  await watch(
    query({
      prompt: "make both",
      options: {
        ...basics(),
        canUseTool: async (_name, input, { toolUseID }) => {
          const isFirst = input["command"] === "touch one"
          observe(isFirst ? "first" : "second", { input, hasId: typeof toolUseID })
          if (!isFirst) return { behavior: "deny", message: "one is enough" }
          asked.open()
          return { behavior: "allow", updatedInput: input, decisionClassification: "user_temporary" }
        },
      },
    }),
  )
  await asked.opened
}
