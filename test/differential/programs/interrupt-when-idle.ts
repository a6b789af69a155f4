import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }, { steps: [{ say: "Two." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts()
  const running = query({ prompt: prompts, options: basics() })
  await attempt("interrupt before the first turn", () => running.interrupt())
  prompts.push(user("one"))
  let results = 0
  await watch(running, async (message) => {
    if (message.type !== "result") return
    if (++results === 2) return prompts.end()
    await attempt("interrupt between turns", () => running.interrupt())
    prompts.push(user("two"))
  })
}
