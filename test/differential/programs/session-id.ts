import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

/** An id of the program's choice; a second session must not take it. */
export async function run(): Promise<void> {
  const sessionId = "d1ff0000-0000-4000-8000-00000000000a"
  await watch(query({ prompt: "hello", options: { ...basics(), sessionId } }))
  await watch(query({ prompt: "hello", options: { ...basics(), sessionId } }))
}
