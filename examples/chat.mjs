// A conversation: one line of input, one turn, until the input ends. Try it: node examples/chat.mjs
import { createInterface } from "node:readline"
import { query } from "@signalbox/sdk"

const terminal = createInterface({ input: process.stdin })

/** Every line that is typed becomes a message. */
async function* messages() {
  for await (const line of terminal) {
    yield {
      type: /** @type {const} */ ("user"),
      message: { role: /** @type {const} */ ("user"), content: line },
      parent_tool_use_id: null,
      session_id: "",
    }
  }
}

for await (const message of query({ prompt: messages(), options: { includePartialMessages: true } })) {
  if (message.type === "stream_event" && message.event.type === "content_block_delta") {
    const { delta } = message.event
    if (delta.type === "text_delta") process.stdout.write(delta.text)
  }
  if (message.type === "result") process.stdout.write("\n")
}
