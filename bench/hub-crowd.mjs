// Many agents, some viewers each, at a steady pace, in a process of their own: `node hub-crowd.mjs FILE` with what to do,
// prints what it measured.
import { readFileSync } from "node:fs"
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"

/**
 * @typedef {{ url: string, token?: string }} Where
 * @typedef {{ seconds: number, perSecond: number, viewers: number,
 *   rooms: { agent: Where, viewer: Where & { subscribe?: string } }[] }} Crowd
 */

/** @type {Crowd} */
const crowd = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(4)
const DELTAS_PER_EVENT = 20

/** @param {number} room @param {number} index */
function lineOf(room, index) {
  const uuid = `${room.toString(16).padStart(8, "0")}-0000-4000-8000-${index.toString(16).padStart(12, "0")}`
  const common = { parent_tool_use_id: null, session_id: `crowd-${process.pid}-${room}`, uuid, sent: performance.now() }
  if (index % (DELTAS_PER_EVENT + 1) !== DELTAS_PER_EVENT) {
    const event = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT.slice(0, 60) } }
    return JSON.stringify({ type: "stream_event", event, ...common })
  }
  const message = { id: `msg_${index}`, type: "message", role: "assistant", content: [{ type: "text", text: TEXT }] }
  return JSON.stringify({ type: "assistant", message, ...common })
}

/** @param {Where} where @param {(socket: WebSocket, text: string) => void} onText @returns {Promise<WebSocket>} */
function connect({ url, token }, onText) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  socket.on("message", (data) => onText(socket, frameText(data)))
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket))
    socket.once("error", reject)
  })
}

/** @param {WebSocket} socket @param {string} text */
function answerInitialize(socket, text) {
  for (const line of text.split("\n")) {
    if (!line.includes('"initialize"')) continue
    const { request_id } = JSON.parse(line)
    const response = { subtype: "success", request_id, response: { commands: [] } }
    socket.send(`${JSON.stringify({ type: "control_response", response })}\n`)
  }
}

/** @type {number[]} */
const latencies = []
const MARK = '"sent":'

/** @param {string} text */
function take(text) {
  const now = performance.now()
  for (let at = text.indexOf(MARK); at !== -1; at = text.indexOf(MARK, at + MARK.length)) {
    latencies.push(now - Number.parseFloat(text.slice(at + MARK.length, at + 30)))
  }
}

/** @type {WebSocket[]} */
const agents = []
for (const { agent, viewer } of crowd.rooms) {
  agents.push(await connect(agent, answerInitialize))
  for (let index = 0; index < crowd.viewers; index += 1) {
    /** @type {(value?: unknown) => void} */
    let tellReady = () => {}
    const ready = new Promise((resolve) => {
      tellReady = resolve
    })
    const socket = await connect(viewer, (_socket, text) => {
      tellReady()
      take(text)
    })
    if (viewer.subscribe === undefined) continue
    socket.send(`${viewer.subscribe}\n`)
    await ready
  }
}
console.log(JSON.stringify({ connected: agents.length }))

const lines = crowd.seconds * crowd.perSecond
const start = performance.now()
let sent = 0
while (sent < lines) {
  const due = Math.min(lines, Math.floor(((performance.now() - start) / 1000) * crowd.perSecond) + 1)
  while (sent < due) {
    const room = sent % agents.length
    agents[room]?.send(`${lineOf(room, Math.floor(sent / agents.length))}\n`)
    sent += 1
  }
  await new Promise((resolve) => setTimeout(resolve, 1))
}
const wanted = lines * crowd.viewers
const deadline = performance.now() + 30_000
while (latencies.length < wanted && performance.now() < deadline)
  await new Promise((resolve) => setTimeout(resolve, 10))
latencies.sort((a, b) => a - b)
const at = (/** @type {number} */ share) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
const wallMs = performance.now() - start
console.log(JSON.stringify({ wallMs, delivered: latencies.length, wanted, p50: at(0.5), p99: at(0.99) }))
process.exit(0)
