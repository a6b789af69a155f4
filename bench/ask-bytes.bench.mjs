// What a long tool input costs when it is asked and allowed: bytes in the data directory, and bytes for a viewer.
import { randomBytes } from "node:crypto"
import { readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"
import { call, startHub } from "./hub-process.mjs"
import { figureOf } from "./measure.mjs"

const MB = 1_000_000
const INPUT = { file_path: "/project/long.txt", content: randomBytes(MB / 2).toString("hex") }

/** @param {string} folder */
function bytesIn(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/**
 * A socket, and each line that comes as an object.
 * @param {string} url @param {string} token @param {(line: any, socket: WebSocket) => void} take
 */
async function dial(url, token, take) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  const seen = { bytes: 0 }
  socket.on("message", (data) => {
    const text = frameText(data)
    seen.bytes += Buffer.byteLength(text)
    for (const line of text.split("\n")) if (line !== "") take(JSON.parse(line), socket)
  })
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  return { socket, seen }
}

export async function askBytes() {
  const hub = await startHub()
  const session = await call(hub, "/api/sessions", { agent: "external" })
  const agent = await dial(session.ingress.url, session.ingress.token, (line, socket) => {
    if (line.request?.subtype !== "initialize") return
    const response = { subtype: "success", request_id: line.request_id, response: { commands: [] } }
    socket.send(`${JSON.stringify({ type: "control_response", response })}\n`)
  })
  /** @type {(value?: unknown) => void} */
  let answered = () => undefined
  const over = new Promise((resolve) => {
    answered = resolve
  })
  const viewer = await dial(`${hub.url.replace("http", "ws")}/api/stream`, hub.token, (line) => {
    if (line.ask?.state === "pending") void call(hub, `/api/asks/${line.ask.id}/answer`, { behavior: "allow" })
    if (line.ev === "event" && line.message.type === "control_response") answered()
  })
  viewer.socket.send(JSON.stringify({ op: "subscribe", session: session.id, after: 0 }))
  const atRest = bytesIn(hub.data)
  const request = { subtype: "can_use_tool", tool_name: "Write", input: INPUT, tool_use_id: "t1" }
  agent.socket.send(`${JSON.stringify({ type: "control_request", request_id: "r1", request })}\n`)
  await over
  const [kept, told] = [bytesIn(hub.data) - atRest, viewer.seen.bytes]
  agent.socket.close()
  viewer.socket.close()
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  const floor = { name: "the input", value: 1 }
  return [
    {
      title: "1 MB of tool input, asked and allowed: kept at rest",
      name: "file and write-ahead log",
      value: kept / MB,
    },
    { title: "1 MB of tool input, asked and allowed: sent to a viewer", name: "stream", value: told / MB },
  ].map(({ title, name, value }) => figureOf({ title, unit: "MB", atMost: 2.5, rows: [{ name, value }, floor] }))
}
