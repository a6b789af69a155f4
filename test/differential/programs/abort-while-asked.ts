import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Never said." }] }],
}
export const modelUnobserved = true

/** A callback that aborts the query it is asked for. */
export async function run(): Promise<void> {
  const abortController = new AbortController()
  const canUseTool = async (name: string) => {
    observe("asked", name)
    abortController.abort()
    return { behavior: "deny" as const, message: "all off" }
  }
  await watch(query({ prompt: "make it", options: { ...basics(), abortController, canUseTool } }))
}
