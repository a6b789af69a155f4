import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said." }] }] }

/** A bare name in `allowedTools` hides the callback; Node's warnings say so. */
export async function run(): Promise<void> {
  process.on("warning", (warning) =>
    observe("warning", { code: "code" in warning ? warning.code : "", name: warning.name }),
  )
  const canUseTool = async (name: string) => {
    observe("asked", name)
    return { behavior: "deny" as const, message: "no" }
  }
  await watch(query({ prompt: "say it", options: { ...basics(), canUseTool, allowedTools: ["Bash"] } }))
}
