// Agents that connect, answer `initialize` and then say nothing: `node idle-agents.mjs FILE` with a list of `{ url, token }`.
import { readFileSync } from "node:fs"
import { WebSocket } from "ws"
import { frameText } from "./frame-text.mjs"

/** @type {{ url: string, token: string }[]} */
const agents = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
for (const { url, token } of agents) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false })
  await new Promise((resolve, reject) => {
    socket.once("error", reject)
    socket.once("message", (data) => {
      const { request_id } = JSON.parse(frameText(data))
      const response = { subtype: "success", request_id, response: { commands: [] } }
      socket.send(`${JSON.stringify({ type: "control_response", response })}\n`, resolve)
    })
  })
}
console.log(JSON.stringify({ connected: agents.length }))
