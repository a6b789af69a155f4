import { NORMAL_CLOSE, type Socket, type SocketEvents } from "./socket.ts"

/** So the token goes another way: a login's cookie, or a first line. */
export const sendsHeaders = false

export function createSocket(url: string, _token: string | undefined, events: SocketEvents): Socket {
  const socket = new WebSocket(url)
  socket.addEventListener("open", () => events.onOpen())
  socket.addEventListener("message", ({ data }) => events.onText(typeof data === "string" ? data : ""))
  socket.addEventListener("close", ({ code, reason }) => events.onClose(code, reason))
  return {
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close: (code, reason) => socket.close(code, reason),
    abandon: () => socket.close(NORMAL_CLOSE, "gone"),
  }
}
