import { setTimeout as delay } from "node:timers/promises"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: { repeat: "word ", times: 400 }, deltas: 400 }] }] }

/** A consumer that is slower than the model loses nothing. */
export async function run(): Promise<void> {
  let deltas = 0
  for await (const message of query({ prompt: "long", options: { ...basics(), includePartialMessages: true } })) {
    if (message.type === "stream_event" && message.event.type === "content_block_delta") deltas++
    if (message.type === "stream_event") await delay(1)
    else observe("message", message)
  }
  observe("deltas", deltas)
}
