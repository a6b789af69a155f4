// The peer of the hub's figures: what an agent sends goes to every viewer of its room, line by line, and nothing else is
// done. `/agent` and `/view` are one room, `/agent/7` and `/view/7` another.
import { WebSocketServer } from "ws"
import { frameText } from "./frame-text.mjs"

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false })
/** @type {Map<string, Set<import("ws").WebSocket>>} */
const rooms = new Map()

/** @param {string} room */
function viewersOf(room) {
  const viewers = rooms.get(room) ?? new Set()
  rooms.set(room, viewers)
  return viewers
}

server.on("connection", (socket, request) => {
  const [, side = "", room = ""] = (request.url ?? "").split("/")
  const viewers = viewersOf(room)
  if (side === "view") {
    viewers.add(socket)
    socket.on("close", () => viewers.delete(socket))
    return
  }
  socket.on("message", (data) => {
    const text = frameText(data)
    for (const viewer of viewers) viewer.send(text)
  })
})
server.on("listening", () => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  console.log(JSON.stringify({ url: `ws://127.0.0.1:${port}` }))
})
