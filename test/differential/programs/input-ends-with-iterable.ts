import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

async function* prompts(): AsyncGenerator<SDKUserMessage> {
  yield user("one")
  yield user("two")
}

function steps(list: object[]) {
  const env = { ...process.env, STEPS: JSON.stringify(list) }
  return { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps"), env }
}

/** A process that answers only when its input has ended: nothing is to be asked of the program, so nothing holds it open. */
export async function run(): Promise<void> {
  await watch(
    query({ prompt: prompts(), options: steps([{ until: "user" }, { until: "end" }, { result: "At the end." }]) }),
  )
  const later = query({
    prompt: prompts(),
    options: steps([{ until: "end" }, { say: { type: "told" } }, { result: "At the end." }]),
  })
  await watch(later, (message) =>
    "told" === (message.type as string) ? attempt("a call", () => later.setModel("m")) : undefined,
  )
  const servers = query({
    prompt: prompts(),
    options: {
      ...steps([{ until: "user" }, { result: "First." }, { until: "end" }, { result: "At the end." }]),
      onElicitation: async () => ({ action: "decline" }),
    },
  })
  await watch(servers)
}
