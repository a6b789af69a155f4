import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A process that goes neither at the end of its input nor at SIGTERM must not keep the program alive. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("ignores-the-end") }
  await watch(query({ prompt: "hello", options }), (message) => (message.type === "result" ? "break" : undefined))
}
