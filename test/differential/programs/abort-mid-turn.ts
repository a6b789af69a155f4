import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "It was a dark", unfinished: true }, { hang: "story" }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const abortController = new AbortController()
  const running = query({ prompt: "a story", options: { ...basics(), abortController } })
  void context()
    .api.untilHanging("story")
    .then(() => abortController.abort())
  await watch(running)
  await attempt("interrupt afterwards", () => running.interrupt())
  await attempt("next afterwards", () => running.next())
}
