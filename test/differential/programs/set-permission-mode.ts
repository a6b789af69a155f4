import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "one", steps: [{ tool: "Write", input: { file_path: "one", content: "1" } }, { say: "One." }] },
    { on: "two", steps: [{ tool: "Write", input: { file_path: "two", content: "2" } }, { say: "Two." }] },
  ],
}

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({
    prompt: prompts,
    options: {
      ...basics(),
      canUseTool: async (name, input) => {
        observe("asked", name)
        return { behavior: "allow", updatedInput: input }
      },
    },
  })
  let results = 0
  await watch(running, async (message) => {
    if (message.type !== "result") return
    if (++results === 2) return prompts.end()
    await attempt("setPermissionMode", () => running.setPermissionMode("acceptEdits"))
    prompts.push(user("two"))
  })
}
