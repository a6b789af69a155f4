import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "long", steps: [{ say: "It was a dark", unfinished: true }, { hang: "story" }] },
    { on: "short", steps: [{ say: "The end." }] },
  ],
}

/** Interrupted when the first words are there; the session goes on. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("a long story"))
  const running = query({ prompt: prompts, options: { ...basics(), includePartialMessages: true } })
  let interrupted: Promise<void> | undefined
  let results = 0
  await watch(running, async (message) => {
    if (message.type === "stream_event" && message.event.type === "content_block_delta")
      interrupted ??= attempt("interrupt", () => running.interrupt())
    if (message.type !== "result") return
    await interrupted
    if (++results === 1) prompts.push(user("a short one"))
    else prompts.end()
  })
}
