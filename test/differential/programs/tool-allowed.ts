import { type CanUseTool, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, described, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "Write", id: "toolu_write", input: { file_path: "note.txt", content: "hi" } },
        { say: "Written." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  const canUseTool: CanUseTool = async (name, input, options) => {
    observe("asked", { name, input, options: described(options) })
    return { behavior: "allow", updatedInput: input }
  }
  await watch(query({ prompt: "write it", options: { ...basics(), canUseTool } }))
}
