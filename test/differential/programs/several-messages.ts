import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "first", steps: [{ say: "One." }] },
    { on: "second", steps: [{ say: "Two." }] },
    { steps: [{ say: "Three." }] },
  ],
}

export async function run(): Promise<void> {
  const prompts = new Prompts(user("the first"))
  const left = [user("the second"), user("the third")]
  await watch(query({ prompt: prompts, options: basics() }), (message) => {
    if (message.type !== "result") return
    const next = left.shift()
    if (next === undefined) prompts.end()
    else prompts.push(next)
  })
}
