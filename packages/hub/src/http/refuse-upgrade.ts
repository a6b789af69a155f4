import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

/** An HTTP error instead of an upgrade, for clients that read it. */
export function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  const body = `${JSON.stringify({ error: { code: status === 401 ? "auth/required" : "auth/forbidden", message } })}\n`
  socket.on("error", () => undefined)
  socket.once("finish", () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
