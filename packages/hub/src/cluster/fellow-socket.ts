import type { IncomingMessage } from "node:http"
import { WebSocket } from "ws"

/** A reply that came instead of the connection. */
export interface Refused {
  readonly status: number
  readonly text: string
}

/** Longer than another hub needs to read a session from the store, shorter than official clients wait. */
const DIAL_MS = 10_000
const MAX_REFUSAL_CHARS = 64 * 1024

/** A WebSocket to another hub. It is not read before it is resumed, so nothing is missed. */
export function dialFellow(url: string, headers: Readonly<Record<string, string>>): Promise<WebSocket | Refused> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, handshakeTimeout: DIAL_MS, perMessageDeflate: false })
    socket.on("error", reject)
    socket.once("open", () => {
      socket.pause()
      resolve(socket)
    })
    socket.once("unexpected-response", (_request, response) => {
      void textOfReply(response).then((text) => resolve({ status: response.statusCode ?? 0, text }))
      response.once("close", () => socket.terminate())
    })
  })
}

async function textOfReply(response: IncomingMessage): Promise<string> {
  let text = ""
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      text += String(chunk)
      if (text.length > MAX_REFUSAL_CHARS) break
    }
  } catch {
    // Its status says enough.
  }
  return text
}
