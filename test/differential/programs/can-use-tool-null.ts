import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, gate, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Never said." }] }],
}

/** Null means somebody else answers; here the interrupt does. */
export async function run(): Promise<void> {
  const asked = gate()
  const prompts = new Prompts(user("make it"))
  const running = query({
    prompt: prompts,
    options: {
      ...basics(),
      canUseTool: async (name) => {
        observe("asked", name)
        asked.open()
        return null
      },
    },
  })
  const interrupted = asked.opened.then(async () => observe("receipt", await running.interrupt()))
  await watch(running, (message) => {
    if (message.type === "result") prompts.end()
  })
  await interrupted
}
