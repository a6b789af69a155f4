import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ say: "One." }] }, { steps: [{ say: "Two." }] }, { steps: [{ say: "Three." }] }],
}

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: { ...basics(), model: "claude-sonnet-4-5-20250929" } })
  let results = 0
  await watch(running, async (message) => {
    if (message.type !== "result") return
    results++
    if (results === 1) await attempt("setModel", () => running.setModel("claude-haiku-4-5-20251001"))
    if (results === 2) await attempt("setModel to the default", () => running.setModel())
    if (results === 3) prompts.end()
    else prompts.push(user("next"))
  })
}
