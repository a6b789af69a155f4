import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      on: "start",
      steps: [{ tool: "Bash", input: { command: "sleep 1; echo over", run_in_background: true } }, { say: "Started." }],
    },
    { repeat: true, steps: [{ tool: "Bash", input: { command: "touch after" } }, { say: "It is over." }] },
  ],
}
export const modelUnobserved = true

async function* once(): AsyncGenerator<SDKUserMessage> {
  yield user("start it")
}

/** The end of a task in the background begins a turn by itself, after the first result; hook and callback must be there. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: once(),
      options: {
        ...basics(),
        hooks: {
          PreToolUse: [{ hooks: [async (input) => (observe("hook", "tool_input" in input && input.tool_input), {})] }],
        },
        canUseTool: async (_name, input) => {
          observe("asked", input)
          return { behavior: "allow", updatedInput: input }
        },
      },
    }),
  )
}
