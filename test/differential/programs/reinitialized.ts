import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, Prompts, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** The agent is asked again what it has: which answer is told afterwards? */
export async function run(): Promise<void> {
  const prompts = new Prompts()
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("counts-greetings") }
  const running = query({ prompt: prompts, options })
  await attempt("before", () => running.supportedModels())
  await attempt("again", async () => (await running.reinitialize()).models)
  await attempt("after", () => running.supportedModels())
  prompts.end()
  await watch(running)
}
