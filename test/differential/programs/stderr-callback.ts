import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

export async function run(): Promise<void> {
  let said = ""
  const stderr = (text: string) => {
    said += text
  }
  await watch(
    query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: fake("talks-on-stderr"), stderr } }),
  )
  observe("stderr", said)
}
