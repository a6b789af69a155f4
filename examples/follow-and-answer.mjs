// Follows a session on a hub from its beginning, prints what the agent says, and asks you when it wants to use a tool.
//   node examples/follow-and-answer.mjs SESSION       with SIGNALBOX_URL and SIGNALBOX_TOKEN in the environment
import { createInterface } from "node:readline/promises"
import { connectHub } from "@signalbox/client"

const [id] = process.argv.slice(2)
if (id === undefined) throw new Error("which session? node examples/follow-and-answer.mjs SESSION")
const { SIGNALBOX_URL = "http://127.0.0.1:8765", SIGNALBOX_TOKEN = "" } = process.env
const hub = connectHub({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN })
const terminal = createInterface({ input: process.stdin, output: process.stdout })
/** @type {Map<string, AbortController>} the asks that you are being asked now */
const open = new Map()

/** @param {{ id: string, toolName?: string, input?: unknown }} ask */
async function answer({ id: askId, toolName = "a question", input }) {
  const controller = new AbortController()
  open.set(askId, controller)
  const text = `${toolName} ${JSON.stringify(input)}  allow? (y/n) `
  const said = await terminal.question(text, { signal: controller.signal }).catch(() => undefined)
  // Somebody else was faster, or there is nobody to ask: it stays with them.
  if (said !== undefined) await hub.answer(askId, { behavior: said === "y" ? "allow" : "deny" }).catch(() => undefined)
}

for await (const item of hub.session(id).follow({ after: 0 })) {
  if (item.type === "event" && item.message.type === "assistant") {
    /** @type {any} the wire's object, as the agent wrote it */
    const { message } = item.message
    for (const block of message.content) if (block.type === "text") console.log(block.text)
  }
  if (item.type === "ask" && item.ask.state !== "pending") open.get(item.ask.id)?.abort()
  else if (item.type === "ask" && !open.has(item.ask.id)) void answer(item.ask)
  if (item.type === "event" && item.message.type === "result") break
}
terminal.close()
hub.close()
