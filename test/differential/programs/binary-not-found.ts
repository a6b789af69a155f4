import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

export async function run(): Promise<void> {
  const running = query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: "/nowhere/claude" } })
  await watch(running)
  await attempt("supportedCommands", () => running.supportedCommands())
  await attempt("next", () => running.next())
}
