import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const running = query({ prompt: "hello", options: basics() })
  const commands = attempt("supportedCommands", () => running.supportedCommands())
  running.close()
  await commands
  await watch(running)
}
