import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { HubError } from "../errors.ts"
import { SECURITY_HEADERS } from "./security-headers.ts"

/** An HTTP error instead of an upgrade, for clients that read it. */
export function refuseUpgrade(socket: Duplex, error: HubError): void {
  const body = `${JSON.stringify({ error: { code: error.code, message: error.message } })}\n`
  const headers = {
    ...SECURITY_HEADERS,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  // Whoever is refused may be gone already.
  socket.on("error", () => undefined)
  socket.once("finish", () => socket.destroy())
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? "Refused"}\r\n${head.join("")}\r\n${body}`)
}
