import { startup } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Already warm." }] }] }

export async function run(): Promise<void> {
  const warm = await startup({ options: basics() })
  await watch(warm.query("hello"))
  await attempt("a second query", () => {
    warm.query("again")
  })
  const unused = await startup({ options: basics() })
  unused.close()
  await attempt("startup that fails", () =>
    startup({ options: { ...basics(), pathToClaudeCodeExecutable: "/nowhere/claude" } }),
  )
}
