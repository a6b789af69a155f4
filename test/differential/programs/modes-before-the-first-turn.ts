import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts()
  const running = query({ prompt: prompts, options: basics() })
  await attempt("setPermissionMode", () => running.setPermissionMode("plan"))
  await attempt("setModel", () => running.setModel("claude-haiku-4-5-20251001"))
  prompts.push(user("one"))
  prompts.end()
  await watch(running)
}
