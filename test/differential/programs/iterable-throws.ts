import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

const broken: AsyncIterable<SDKUserMessage> = {
  [Symbol.asyncIterator]: () => ({
    next: async () => {
      throw new Error("the source of prompts broke")
    },
  }),
}

export async function run(): Promise<void> {
  await watch(query({ prompt: broken, options: basics() }))
}
