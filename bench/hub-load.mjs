// One agent and some viewers, in a process of their own: `node hub-load.mjs '{"mode":"burst",…}'` prints what it measured.
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"

/**
 * @typedef {{ mode: "burst" | "paced", kind: "delta" | "event" | "mixed", lines: number, viewers: number, perSecond?: number,
 *   agent: { url: string, token?: string }, viewer: { url: string, token?: string, subscribe?: string } }} Load
 */

/** @type {Load} */
const load = JSON.parse(process.argv[2] ?? "{}")
const SESSION = `bench-${process.pid}-${Date.now()}`
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(4)

/** @param {number} index */
function lineOf(index) {
  const uuid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`
  const common = { parent_tool_use_id: null, session_id: SESSION, uuid, sent: performance.now() }
  if (load.kind === "delta" || (load.kind === "mixed" && index % 21 !== 20)) {
    const delta = { type: "text_delta", text: `${index} ${TEXT.slice(0, 60)}` }
    return JSON.stringify({ type: "stream_event", event: { type: "content_block_delta", index: 0, delta }, ...common })
  }
  const message = { id: `msg_${index}`, type: "message", role: "assistant", content: [{ type: "text", text: TEXT }] }
  return JSON.stringify({ type: "assistant", message, ...common })
}

/** @param {{ url: string, token?: string }} where @param {(socket: WebSocket, text: string) => void} onText @returns {Promise<WebSocket>} */
function connect({ url, token }, onText) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  socket.on("message", (data) => onText(socket, frameText(data)))
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket))
    socket.once("error", reject)
  })
}

const agent = await connect(load.agent, (socket, text) => {
  for (const line of text.split("\n")) {
    if (!line.includes('"initialize"')) continue
    const { request_id } = JSON.parse(line)
    const response = { subtype: "success", request_id, response: { commands: [] } }
    socket.send(`${JSON.stringify({ type: "control_response", response })}\n`)
  }
})

/** @type {number[]} */
const latencies = []
let delivered = 0
const wanted = load.lines * load.viewers
/** @type {(value?: unknown) => void} */
let finish = () => {}
const finished = new Promise((resolve) => {
  finish = resolve
})

const MARK = `"session_id":"${SESSION}"`
/** Counts as a viewer would read: every line of every frame is looked at. @param {string} text */
function take(text) {
  const now = performance.now()
  let at = 0
  while ((at = text.indexOf(MARK, at)) !== -1) {
    at += MARK.length
    delivered += 1
    if (load.mode === "paced") {
      const sent = text.indexOf('"sent":', at)
      latencies.push(now - Number.parseFloat(text.slice(sent + 7, sent + 30)))
    }
  }
  if (delivered >= wanted) finish()
}

for (let index = 0; index < load.viewers; index += 1) {
  /** @type {(value?: unknown) => void} */
  let tellReady = () => {}
  const ready = new Promise((resolve) => {
    tellReady = resolve
  })
  const viewer = await connect(load.viewer, (_socket, text) => {
    tellReady()
    take(text)
  })
  if (load.viewer.subscribe === undefined) continue
  viewer.send(`${load.viewer.subscribe}\n`)
  await ready
}

async function burst() {
  for (let index = 0; index < load.lines; index += 1) {
    agent.send(`${lineOf(index)}\n`)
    // The agent's pipe is bounded too, and the viewers of this process must get their turn.
    if (index % 200 === 199) await room()
  }
}

async function room() {
  do await new Promise((resolve) => setImmediate(resolve))
  while (agent.bufferedAmount > 1_000_000)
}

async function paced() {
  const perSecond = load.perSecond ?? 2_000
  const start = performance.now()
  let sent = 0
  while (sent < load.lines) {
    const due = Math.min(load.lines, Math.floor(((performance.now() - start) / 1000) * perSecond) + 1)
    while (sent < due) agent.send(`${lineOf(sent++)}\n`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

const start = performance.now()
await (load.mode === "burst" ? burst() : paced())
if (load.viewers > 0) {
  const timer = setTimeout(finish, 60_000)
  await finished
  clearTimeout(timer)
} else {
  // Nobody to wait for but the socket: what it took is the hub's.
  await new Promise((resolve) => agent.close(1000, "done") ?? agent.once("close", resolve))
}
const wallMs = performance.now() - start
latencies.sort((a, b) => a - b)
const at = (/** @type {number} */ share) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
console.log(JSON.stringify({ wallMs, delivered, wanted, p50: at(0.5), p99: at(0.99) }))
process.exit(0)
