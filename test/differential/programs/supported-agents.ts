import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, observe, Prompts, user } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const agents = { tester: { description: "Tests things", prompt: "You test." } }
  const running = query({ prompt: prompts, options: { ...basics(), agents } })
  await attempt("supportedAgents", () => running.supportedAgents())
  await attempt("initializationResult", async () => Object.keys(await running.initializationResult()).sort())
  await attempt("reinitialize", async () => Object.keys(await running.reinitialize()).sort())
  prompts.end()
  // Not watched: whether the CLI tells of background tasks before its init depends on the moment.
  for await (const message of running) if (message.type === "result") observe("result", message.subtype)
}
