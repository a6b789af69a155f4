import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

/** The input stays open, so the failing process is what ends the query. */
export async function run(): Promise<void> {
  const prompts = new Prompts(user("go on"))
  await watch(query({ prompt: prompts, options: { ...basics(), resume: "d1ff0000-0000-4000-8000-0000000000ff" } }))
  prompts.end()
}
