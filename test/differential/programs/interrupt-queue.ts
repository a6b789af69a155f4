import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "first", steps: [{ hang: "work" }] },
    { on: "second", steps: [{ say: "The second." }] },
    { on: "last", steps: [{ say: "The last." }] },
  ],
}

/** An interrupt while another message waits in the queue, and what its receipt says. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("the first", { uuid: "d1ff0000-0000-4000-8000-000000000001" }))
  const running = query({ prompt: prompts, options: basics() })
  const working = context().api.untilHanging("work")
  let queued = 0
  let results = 0
  await Promise.all([
    working.then(() => prompts.push(user("the second", { uuid: "d1ff0000-0000-4000-8000-000000000002" }))),
    watch(running, async (message) => {
      // Not in the published union: newer CLIs tell of each message with an id.
      const { type, state } = message as unknown as { type: string; state?: string }
      if (type === "command_lifecycle" && state === "queued" && ++queued === 2)
        await attempt("interrupt", () => running.interrupt())
      if (type !== "result") return
      if (++results === 1) prompts.push(user("the last"))
      else prompts.end()
    }),
  ])
}
