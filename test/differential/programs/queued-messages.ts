import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "first", steps: [{ say: "Working", unfinished: true }, { hang: "work" }, { say: " done." }] },
    { on: "second", steps: [{ say: "Both queued ones." }] },
  ],
}

/** Two messages with ids of ours come while the model works; they are taken together afterwards. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("the first", { uuid: "d1ff0000-0000-4000-8000-000000000001" }))
  let queued = 0
  const { api } = context()
  const working = api.untilHanging("work")
  let results = 0
  const watching = watch(query({ prompt: prompts, options: basics() }), (message) => {
    // Not in the published union: newer CLIs tell of each message with an id.
    const { type, state } = message as unknown as { type: string; state?: string }
    if (type === "command_lifecycle" && state === "queued" && ++queued === 3) api.release("work")
    if (type === "result" && ++results === 2) prompts.end()
  })
  await working
  prompts.push(user("the second", { uuid: "d1ff0000-0000-4000-8000-000000000002" }))
  prompts.push(user("the third", { uuid: "d1ff0000-0000-4000-8000-000000000003" }))
  await watching
}
