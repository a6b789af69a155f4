import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, Prompts, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Nothing is ever answered; every call must settle all the same when the query is closed. */
export async function run(): Promise<void> {
  const running = query({
    prompt: new Prompts(),
    options: { ...basics(), pathToClaudeCodeExecutable: fake("never-answers") },
  })
  const calls: Record<string, Promise<unknown>> = {
    supportedModels: running.supportedModels(),
    setModel: running.setModel("m"),
    interrupt: running.interrupt(),
  }
  const settled = Promise.allSettled(Object.values(calls))
  setTimeout(() => running.close(), 300)
  await watch(running)
  await settled
  for (const [what, call] of Object.entries(calls)) await attempt(what, () => call)
}
