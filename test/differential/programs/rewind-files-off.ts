import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Nothing made." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("rewindFiles", () => running.rewindFiles("d1ff0000-0000-4000-8000-000000000001"))
    prompts.end()
  })
}
