import { WebSocket } from "ws"
import type { Socket, SocketEvents } from "./socket.ts"

const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024
const HANDSHAKE_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 2000

/** A browser cannot send a header with a WebSocket; Node can. */
export const sendsHeaders = true

export function createSocket(url: string, token: string | undefined, events: SocketEvents): Socket {
  const options = {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    maxPayload: MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    closeTimeout: CLOSE_TIMEOUT_MS,
  }
  const socket = new WebSocket(url, options)
  socket.addEventListener("open", () => events.onOpen())
  socket.addEventListener("message", ({ data }) => events.onText(typeof data === "string" ? data : ""))
  socket.addEventListener("close", ({ code, reason }) => events.onClose(code, reason))
  // The close event follows; without a listener an error would end the process.
  socket.addEventListener("error", () => undefined)
  return {
    send: (text) => socket.send(text),
    close: (code, reason) => socket.close(code, reason),
    abandon: () => socket.terminate(),
  }
}
