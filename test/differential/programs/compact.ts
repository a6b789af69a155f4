import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }, { steps: [{ say: "Hello anew." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("hello"))
  const left = [user("/compact")]
  const hooks = { PreCompact: [{ hooks: [async (input: object) => (observe("hook", input), {})] }] }
  await watch(query({ prompt: prompts, options: { ...basics(), hooks } }), (message) => {
    if (message.type !== "result") return
    const next = left.shift()
    if (next === undefined) prompts.end()
    else prompts.push(next)
  })
}
