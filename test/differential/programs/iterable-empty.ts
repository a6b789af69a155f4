import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

async function* nothing(): AsyncGenerator<SDKUserMessage> {}

export async function run(): Promise<void> {
  await watch(query({ prompt: nothing(), options: basics() }))
}
