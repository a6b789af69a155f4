import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

/** Asked before there is any message; the process is up all the same. */
export async function run(): Promise<void> {
  const prompts = new Prompts()
  const running = query({ prompt: prompts, options: basics() })
  await attempt("supportedCommands", () => running.supportedCommands())
  await attempt("supportedModels", () => running.supportedModels())
  await attempt("accountInfo", () => running.accountInfo())
  await attempt("mcpServerStatus", () => running.mcpServerStatus())
  prompts.push(user("one"))
  prompts.end()
  await watch(running)
  await attempt("supportedModels afterwards", async () => (await running.supportedModels()).length > 0)
}
