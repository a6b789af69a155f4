import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** An iterator by hand: its `next` and `return` give no promises. */
function byHand(): object {
  let count = 0
  const next = () => (count++ === 0 ? { done: false, value: user("by hand") } : { done: true, value: undefined })
  const end = () => {
    observe("ended", "by hand")
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
}

function* generated() {
  try {
    yield user("generated")
  } finally {
    observe("ended", "generated")
  }
}

async function* withLastWord() {
  yield user("first")
  return user("what is returned is not sent")
}

/** Whatever `for await` takes is taken for a prompt. */
export async function run(): Promise<void> {
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(user("streamed"))
      controller.close()
    },
  })
  const prompts: unknown[] = [
    byHand(),
    generated(),
    withLastWord(),
    stream,
    [Promise.resolve(user("promised"))],
    new Set([user("in a set")]),
  ]
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  for (const prompt of prompts) await watch(query({ prompt: prompt as AsyncIterable<SDKUserMessage>, options }))
}
