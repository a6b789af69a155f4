import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Lines that are not JSON are passed over; types nobody knows are handed on. */
export async function run(): Promise<void> {
  await watch(query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: fake("prints-rubbish") } }))
}
