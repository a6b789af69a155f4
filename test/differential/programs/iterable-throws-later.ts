import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

async function* broken(): AsyncGenerator<SDKUserMessage> {
  yield user("one")
  throw new Error("the source of prompts broke")
}

/** The first message was sent: what the agent says to it is still heard. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps") }
  for (const steps of [
    [{ until: "user" }, { result: "Heard." }],
    [{ until: "user" }, { until: "end" }, { result: "Heard at the end." }],
  ])
    await watch(
      query({ prompt: broken(), options: { ...options, env: { ...process.env, STEPS: JSON.stringify(steps) } } }),
    )
}
