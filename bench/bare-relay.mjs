// The peer of the hub's figures: what an agent sends goes to every viewer, line by line, and nothing else is done.
import { WebSocketServer } from "ws"
import { frameText } from "./frame-text.mjs"

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false })
/** @type {Set<import("ws").WebSocket>} */
const viewers = new Set()
server.on("connection", (socket, request) => {
  if (request.url === "/view") {
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
