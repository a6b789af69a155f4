import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "long", steps: [{ say: "It was a dark", unfinished: true }, { hang: "story" }] },
    { on: "stop", steps: [{ say: "Stopped." }] },
  ],
}

/** A message that cannot wait takes the place of the turn under way. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("a long story"))
  let pushed = false
  let results = 0
  await watch(query({ prompt: prompts, options: { ...basics(), includePartialMessages: true } }), (message) => {
    if (message.type === "stream_event" && message.event.type === "content_block_delta" && !pushed) {
      pushed = true
      prompts.push(user("stop", { priority: "now" }))
    }
    if (message.type === "result" && ++results === 2) prompts.end()
  })
}
