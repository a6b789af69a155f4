import { setTimeout as delay } from "node:timers/promises"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Questions that were open before this host came are handed over with the answer to `initialize`; one comes twice. */
export async function run(): Promise<void> {
  const options = {
    ...basics(),
    pathToClaudeCodeExecutable: fake("has-open-questions"),
    canUseTool: async (name: string, input: Record<string, unknown>) => {
      observe("asked", { name, input })
      await delay(200)
      return { behavior: "allow" as const, updatedInput: input }
    },
  }
  await watch(query({ prompt: "hello", options }))
}
