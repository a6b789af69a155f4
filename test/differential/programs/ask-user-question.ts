import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

const questions = [
  {
    question: "Which colour?",
    header: "Colour",
    multiSelect: false,
    options: [
      { label: "Red", description: "as a rose" },
      { label: "Blue", description: "as the sea" },
    ],
  },
]

export const scenario = {
  turns: [{ steps: [{ tool: "AskUserQuestion", input: { questions } }, { say: "Blue it is." }] }],
}

export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "paint it",
      options: {
        ...basics(),
        canUseTool: async (name, input) => {
          observe("asked", { name, input })
          return { behavior: "allow", updatedInput: { ...input, answers: { "Which colour?": "Blue" } } }
        },
      },
    }),
  )
}
