// One question, one answer.
import { query } from "@signalbox/sdk"

for await (const message of query({ prompt: "What is the capital of France?" })) {
  if (message.type === "assistant") {
    for (const block of message.message.content) if (block.type === "text") console.log(block.text)
  }
  if (message.type === "result") console.log(`(${message.subtype}, $${message.total_cost_usd.toFixed(4)})`)
}
