import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Hello anew." }] }] }

/** A command of the CLI itself, between two turns. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("hello"))
  const left = [user("/clear"), user("hello again")]
  await watch(query({ prompt: prompts, options: basics() }), (message) => {
    if (message.type !== "result") return
    const next = left.shift()
    if (next === undefined) prompts.end()
    else prompts.push(next)
  })
}
