import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

/** Whether the hook is still heard after the input ended is a matter of luck; that nothing breaks is not. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("hello"))
  const hooks = { SessionEnd: [{ hooks: [async () => ({})] }] }
  await watch(query({ prompt: prompts, options: { ...basics(), hooks } }), (message) => {
    if (message.type === "result") prompts.end()
  })
}
