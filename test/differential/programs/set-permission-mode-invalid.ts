import { type PermissionMode, query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    // A mode out of a configuration file, say.
    await attempt("nonsense", () => running.setPermissionMode("nonsense" as PermissionMode))
    await attempt("bypassPermissions", () => running.setPermissionMode("bypassPermissions"))
    prompts.end()
  })
}
