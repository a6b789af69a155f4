import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

export async function run(): Promise<void> {
  const options = { ...basics(), extraArgs: { "append-system-prompt": "Be extra.", "replay-user-messages": null } }
  await watch(query({ prompt: "hello", options }))
}
