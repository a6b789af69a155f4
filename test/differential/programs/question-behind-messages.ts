import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, gate, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const message = { type: "assistant", text: "x".repeat(10_000) }
const question = { subtype: "can_use_tool", tool_name: "Bash", input: {}, tool_use_id: "t" }

/** The question stands behind six million characters that the program does not read before it was asked. */
export async function run(): Promise<void> {
  for (const when of ["in the loop", "before it reads"]) {
    const asked = gate()
    const steps = [{ until: "user" }, { say: message, times: 600 }, { ask: question }, { result: "Done." }]
    const running = query({
      prompt: "go",
      options: {
        ...basics(),
        pathToClaudeCodeExecutable: fake("follows-steps"),
        env: { ...process.env, STEPS: JSON.stringify(steps) },
        canUseTool: async (_name, input) => {
          asked.open()
          return { behavior: "allow", updatedInput: input }
        },
      },
    })
    if (when === "before it reads") await asked.opened
    let read = 0
    for await (const { type } of running) {
      if (read++ === 0 && when === "in the loop") await asked.opened
      if (type === "result") observe("read", { when, read })
    }
  }
}
