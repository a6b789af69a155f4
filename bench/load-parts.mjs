// What the processes that load a hub have in common: the lines an agent says, its side of the socket, and how long a line
// was on its way.
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"

/** @typedef {{ url: string, token?: string }} Where */

const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(4)
const STAMP = '"text":"sent at '

/**
 * A line in the wire's own form. When it was sent stands in its words, since no agent has a field for that.
 * @param {"delta" | "event"} kind @param {{ session_id: string, uuid: string }} ids
 */
export function lineOf(kind, ids) {
  const stamp = `sent at ${performance.now()} `
  const common = { session_id: ids.session_id, parent_tool_use_id: null, uuid: ids.uuid }
  if (kind === "delta") {
    const delta = { type: "text_delta", text: stamp + TEXT.slice(0, 60) }
    return JSON.stringify({ type: "stream_event", event: { type: "content_block_delta", index: 0, delta }, ...common })
  }
  const content = [{ type: "text", text: stamp + TEXT }]
  const message = { id: `msg_${ids.uuid}`, type: "message", role: "assistant", content }
  return JSON.stringify({ type: "assistant", message, ...common })
}

/** How many lines are in a text. Every one is looked at, as a viewer would. @param {string} text */
export function countIn(text) {
  let count = 0
  for (let at = text.indexOf(STAMP); at !== -1; at = text.indexOf(STAMP, at + STAMP.length)) count++
  return count
}

/** Milliseconds that each line in a text was on its way. @param {string} text */
export function waysIn(text) {
  const now = performance.now()
  const ways = []
  for (let at = text.indexOf(STAMP); at !== -1; at = text.indexOf(STAMP, at + STAMP.length)) {
    ways.push(now - Number.parseFloat(text.slice(at + STAMP.length, at + STAMP.length + 24)))
  }
  return ways
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

/** @param {Where} where */
export function connectAgent(where) {
  return connect(where, (socket, text) => {
    for (const line of text.split("\n")) {
      if (!line.includes('"initialize"')) continue
      const { request_id } = JSON.parse(line)
      const response = { subtype: "success", request_id, response: { commands: [] } }
      socket.send(`${JSON.stringify({ type: "control_response", response })}\n`)
    }
  })
}

/** Ready when it is subscribed, where that is asked for. @param {Where & { subscribe?: string }} where @param {(text: string) => void} onText */
export async function connectViewer(where, onText) {
  /** @type {(value?: unknown) => void} */
  let tellReady = () => {}
  const ready = new Promise((resolve) => {
    tellReady = resolve
  })
  const socket = await connect(where, (_socket, text) => {
    tellReady()
    onText(text)
  })
  if (where.subscribe === undefined) return
  socket.send(`${where.subscribe}\n`)
  await ready
}

/** @param {number[]} values @param {number} share */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
