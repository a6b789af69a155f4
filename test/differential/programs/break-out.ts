import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "It was a dark and stormy night." }, { hang: true }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const running = query({ prompt: "a story", options: basics() })
  await watch(running, (message) => (message.type === "assistant" ? "break" : undefined))
  await attempt("next", () => running.next())
  await attempt("interrupt", () => running.interrupt())
}
