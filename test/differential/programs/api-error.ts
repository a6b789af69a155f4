import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ error: 400, type: "invalid_request_error", message: "the request makes no sense" }] }],
}

export async function run(): Promise<void> {
  await watch(query({ prompt: "hello", options: basics() }))
}
