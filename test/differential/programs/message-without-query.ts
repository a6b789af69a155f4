import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "You said it is raining." }] }] }

/** Something to know, without a turn of its own. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("It is raining.", { shouldQuery: false }))
  let results = 0
  await watch(query({ prompt: prompts, options: basics() }), (message) => {
    if (message.type !== "result") return
    if (++results === 1) prompts.push(user("What did I say?"))
    else prompts.end()
  })
}
