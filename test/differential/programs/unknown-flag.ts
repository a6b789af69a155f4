import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  let said = ""
  const stderr = (text: string) => {
    said += text
  }
  await watch(query({ prompt: "hello", options: { ...basics(), stderr, extraArgs: { "no-such-flag": "x" } } }))
  observe("stderr", said.trim())
}
