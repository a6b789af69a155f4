import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, gate, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Never said." }] }],
}

/** An interrupt withdraws the question: the callback's signal must say so. */
export async function run(): Promise<void> {
  const asked = gate()
  const prompts = new Prompts(user("make it"))
  const running = query({
    prompt: prompts,
    options: {
      ...basics(),
      canUseTool: async (_name, _input, { signal }) => {
        observe("asked", { aborted: signal.aborted })
        asked.open()
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
        observe("asked", { aborted: signal.aborted })
        return { behavior: "deny", message: "too late" }
      },
    },
  })
  const interrupted = asked.opened.then(() => running.interrupt())
  await watch(running, (message) => {
    if (message.type === "result") prompts.end()
  })
  await interrupted
}
