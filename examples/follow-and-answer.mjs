// Follows a session on a hub from its beginning, prints what the agent says, and answers its questions in the terminal.
//   node examples/follow-and-answer.mjs SESSION       with SIGNALBOX_URL and SIGNALBOX_TOKEN in the environment
import { createInterface } from "node:readline/promises"
import { connectHub } from "@signalbox/client"

const [id] = process.argv.slice(2)
const { SIGNALBOX_URL = "http://127.0.0.1:8765", SIGNALBOX_TOKEN = "" } = process.env
const hub = connectHub({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN })
const terminal = createInterface({ input: process.stdin, output: process.stdout })
const seen = new Set()

for await (const item of hub.session(id ?? "").follow({ after: 0 })) {
  if (item.type === "event" && item.message.type === "assistant") {
    /** @type {any} the wire's object, as the agent wrote it */
    const { message } = item.message
    for (const block of message.content) if (block.type === "text") console.log(block.text)
  }
  if (item.type === "ask" && item.ask.state === "pending" && !seen.has(item.ask.id)) {
    seen.add(item.ask.id)
    const { toolName, input } = item.ask
    const answer = await terminal.question(`${toolName} ${JSON.stringify(input)}  allow? (y/n) `)
    // Somebody else may have been faster: then theirs counts.
    await hub.answer(item.ask.id, { behavior: answer === "y" ? "allow" : "deny" }).catch(() => undefined)
  }
  if (item.type === "event" && item.message.type === "result") break
}
terminal.close()
hub.close()
