import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("getContextUsage", async () => {
      const { model, maxTokens, categories, isAutoCompactEnabled } = await running.getContextUsage()
      return { model, maxTokens, categories: categories.map(({ name }) => name), isAutoCompactEnabled }
    })
    await attempt("usage", async () =>
      Object.keys(await running.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET()).sort(),
    )
    prompts.end()
  })
}
