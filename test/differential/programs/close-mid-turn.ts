import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "It was a dark", unfinished: true }, { hang: "story" }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const running = query({ prompt: "a story", options: basics() })
  void context()
    .api.untilHanging("story")
    .then(() => running.close())
  await watch(running)
  await attempt("setModel afterwards", () => running.setModel("claude-haiku-4-5-20251001"))
  await attempt("supportedCommands afterwards", async () => (await running.supportedCommands()).length > 0)
  running.close()
  // A second loop over what is over ends at once.
  await watch(running)
  observe("next", await running.next())
}
