import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }
export const modelUnobserved = true

export async function run(): Promise<void> {
  const first = query({ prompt: "hello", options: basics() })
  await attempt("next", async () => (await first.next()).done)
  await attempt("return", () => first.return())
  await attempt("next", () => first.next())
  const second = query({ prompt: "hello", options: basics() })
  await attempt("throw", () => second.throw(new Error("mine")))
  await attempt("next", () => second.next())
}
