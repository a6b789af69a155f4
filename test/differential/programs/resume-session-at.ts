import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "one", steps: [{ say: "First." }] },
    { on: "two", steps: [{ say: "Second." }] },
    { on: "again", steps: [{ say: "Third." }] },
  ],
}

/** Resumed after the first answer: the second turn must be gone from what the model gets. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const answers: string[] = []
  let session = ""
  await watch(query({ prompt: prompts, options: basics() }), (message) => {
    if (message.type === "assistant") answers.push(message.uuid)
    if (message.type !== "result") return
    session = message.session_id
    if (answers.length === 1) prompts.push(user("two"))
    else prompts.end()
  })
  const at = { resume: session, ...(answers[0] === undefined ? {} : { resumeSessionAt: answers[0] }) }
  await watch(query({ prompt: "again", options: { ...basics(), ...at } }))
}
