import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

export async function run(): Promise<void> {
  const running = query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: fake("exits-with-1") } })
  const commands = attempt("supportedCommands", () => running.supportedCommands())
  await watch(running)
  await commands
}
