import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** The process fails after a good result, while more input could come. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("hello"))
  await watch(
    query({ prompt: prompts, options: { ...basics(), pathToClaudeCodeExecutable: fake("fails-after-result") } }),
  )
  prompts.end()
}
