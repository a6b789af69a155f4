import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "first", steps: [{ error: 400, type: "invalid_request_error", message: "the request makes no sense" }] },
    { on: "second", steps: [{ say: "Better." }] },
  ],
}

/** The session goes on after a failed turn. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("first"))
  let results = 0
  await watch(query({ prompt: prompts, options: basics() }), (message) => {
    if (message.type !== "result") return
    if (++results === 1) prompts.push(user("second"))
    else prompts.end()
  })
}
