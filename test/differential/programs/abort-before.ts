import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  const abortController = new AbortController()
  abortController.abort()
  await attempt("query", async () => {
    await watch(query({ prompt: "hello", options: { ...basics(), abortController } }))
  })
}
