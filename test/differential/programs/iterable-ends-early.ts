import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hello" } }, { say: "Done." }] }] }

/** Exhausted long before the model is done; the permission must be answered all the same. */
async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield user("run it")
}

export async function run(): Promise<void> {
  const canUseTool = async (name: string, input: Record<string, unknown>) => {
    observe("asked", { name, input })
    return { behavior: "allow" as const, updatedInput: input }
  }
  await watch(
    query({ prompt: prompts(), options: { ...basics(), canUseTool, settings: { permissions: { ask: ["Bash"] } } } }),
  )
}
