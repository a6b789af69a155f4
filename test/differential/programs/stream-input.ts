import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "one", steps: [{ say: "One." }] },
    { on: "two", steps: [{ say: "Two." }] },
  ],
}

async function* more(): AsyncGenerator<SDKUserMessage> {
  yield user("two")
}

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  let results = 0
  let streamed: Promise<void> | undefined
  await watch(running, (message) => {
    if (message.type !== "result") return
    if (++results === 1) streamed = attempt("streamInput", () => running.streamInput(more()))
    else prompts.end()
  })
  await streamed
}
