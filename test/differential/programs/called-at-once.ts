import { type PermissionMode, query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

async function* one(): AsyncGenerator<SDKUserMessage> {
  yield user("hello")
}

/** What is asked in the same breath as the query: in which order does the agent hear of it? */
export async function run(): Promise<void> {
  for (const prompt of ["hello", one()]) {
    const running = query({
      prompt,
      options: {
        ...basics(),
        pathToClaudeCodeExecutable: fake("tells-what-it-gets"),
        onElicitation: async () => ({ action: "decline" }),
      },
    })
    const modes: PermissionMode[] = ["plan", "acceptEdits"]
    const calls = modes.map((mode) => attempt(mode, () => running.setPermissionMode(mode)))
    await watch(running)
    await Promise.all(calls)
  }
  const running = query({
    prompt: "hello",
    options: { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") },
  })
  await attempt("awaited", () => running.setPermissionMode("plan"))
  await watch(running)
}
