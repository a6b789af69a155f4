// An agent that answers each message with a turn of one line, or, told to flood, writes durable lines from the first message on, as fast as
// they are taken: `node flood-agent.mjs echo|flood`, on its standard streams, or on the WebSocket at AGENT_URL with AGENT_TOKEN.
import { createInterface } from "node:readline"
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"

const how = process.argv[2] ?? "echo"
const session_id = `bench-${process.pid}-${Date.now()}`
const uuidPrefix = `${process.pid.toString(16).padStart(8, "0")}-0000-4000-8000-`
const LINES_AT_ONCE = 100
const UNSENT_BYTES = 1_000_000
let said = 0

/** @param {string} text */
function lineOf(text) {
  const uuid = `${uuidPrefix}${(said++).toString(16).padStart(12, "0")}`
  const message = { id: `msg_${uuid}`, type: "message", role: "assistant", content: [{ type: "text", text }] }
  return JSON.stringify({ type: "assistant", message, session_id, parent_tool_use_id: null, uuid })
}

const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(4)

/** @param {Wire} wire */
async function flood(wire) {
  for (;;) {
    for (let line = 0; line < LINES_AT_ONCE; line += 1) wire.say(lineOf(TEXT))
    await wire.room()
  }
}

let isFlooding = false

/** @param {Wire} wire @param {string} line */
function hear(wire, line) {
  const message = line === "" ? {} : JSON.parse(line)
  if (message.type === "control_request") {
    const response = { subtype: "success", request_id: message.request_id, response: { commands: [] } }
    wire.say(JSON.stringify({ type: "control_response", response }))
  }
  if (message.type !== "user") return
  wire.say(JSON.stringify({ ...message, session_id, isReplay: true }))
  if (how === "echo") {
    wire.say(lineOf(`heard ${JSON.stringify(message.message.content)}`))
    const result = { type: "result", subtype: "success", is_error: false, result: "", num_turns: 1, total_cost_usd: 0 }
    return wire.say(JSON.stringify({ ...result, session_id, uuid: `${uuidPrefix}r${said}` }))
  }
  if (!isFlooding) void flood(wire)
  isFlooding = true
}

/** @typedef {{ say: (line: string) => void, room: () => Promise<unknown> }} Wire */

function onStreams() {
  /** @type {Wire} */
  const wire = {
    say: (line) => void process.stdout.write(`${line}\n`),
    room: () =>
      process.stdout.writableNeedDrain
        ? new Promise((resolve) => process.stdout.once("drain", resolve))
        : new Promise((resolve) => setImmediate(resolve)),
  }
  createInterface({ input: process.stdin })
    .on("line", (line) => hear(wire, line))
    .on("close", () => process.exit(0))
}

/** @param {string} url */
function onSocket(url) {
  const headers = { authorization: `Bearer ${process.env["AGENT_TOKEN"]}` }
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  /** @type {Wire} */
  const wire = {
    say: (line) => socket.send(`${line}\n`),
    room: async () => {
      do await new Promise((resolve) => setImmediate(resolve))
      while (socket.bufferedAmount > UNSENT_BYTES)
    },
  }
  socket.on("message", (data) => {
    for (const line of frameText(data).split("\n")) hear(wire, line)
  })
  socket.on("close", () => process.exit(0))
}

const url = process.env["AGENT_URL"]
if (url === undefined) onStreams()
else onSocket(url)
