import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A task in the background asks after the first result, and says what answer it got. */
export async function run(): Promise<void> {
  const options = {
    ...basics(),
    pathToClaudeCodeExecutable: fake("asks-late"),
    canUseTool: async (name: string, input: Record<string, unknown>) => {
      observe("asked", name)
      return { behavior: "allow" as const, updatedInput: input }
    },
  }
  await watch(query({ prompt: "hello", options }))
}
