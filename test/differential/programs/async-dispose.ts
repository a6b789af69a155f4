import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }, { hang: true }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const running = query({ prompt: "hello", options: basics() })
  observe("first", (await running.next()).value)
  await attempt("dispose", () => running[Symbol.asyncDispose]())
}
