import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }, { steps: [{ say: "Two." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  let results = 0
  await watch(running, async (message) => {
    if (message.type !== "result") return
    if (++results === 2) return prompts.end()
    await attempt("setMaxThinkingTokens", () => running.setMaxThinkingTokens(4_000))
    await attempt("setMaxThinkingTokens off", () => running.setMaxThinkingTokens(null))
    prompts.push(user("two"))
  })
}
