import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Several reads are asked for before anything has come; each gets its own message, in order. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("talks-on-stderr") }
  const running = query({ prompt: "hello", options })
  await attempt("two at once", async () =>
    (await Promise.all([running.next(), running.next()])).map(({ value, done }) => ({ type: value?.type, done })),
  )
  await attempt("three past the end", async () =>
    (await Promise.all([running.next(), running.next(), running.next()])).map(({ done }) => done),
  )
}
