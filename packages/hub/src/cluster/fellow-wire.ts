import { type IncomingMessage, request } from "node:http"
import { request as requestSecurely } from "node:https"
import { Readable } from "node:stream"
import { WebSocket } from "ws"

/** Connections between hubs. `ca`: the certificates that they trust, instead of those that this machine trusts. */
export interface FellowWireOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string | undefined
}

export interface FellowRequest extends FellowWireOptions {
  readonly method: string
  readonly body: string | undefined
  readonly signal: AbortSignal
}

/** The connection was never made: nothing was done. */
export class UnreachedError extends Error {}

const CONNECT_MS = 10_000
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * The reply to one request, over a connection of its own: one that was kept might be closed at its other end by now, and nobody
 * would know whether the request was heard. Fails with `UnreachedError` while it was not sent.
 */
export function requestFellow(url: string, { body, ...options }: FellowRequest): Promise<Response> {
  const send = url.startsWith("https:") ? requestSecurely : request
  return new Promise((resolve, reject) => {
    let isSent = false
    const outgoing = send(url, { ...options, agent: false })
    const late = setTimeout(() => outgoing.destroy(new Error("no connection in time")), CONNECT_MS)
    outgoing.once("socket", (socket) => {
      socket.once(url.startsWith("https:") ? "secureConnect" : "connect", () => {
        isSent = true
        clearTimeout(late)
      })
    })
    outgoing.once("close", () => clearTimeout(late))
    outgoing.on("error", (error) => reject(isSent ? error : new UnreachedError(error.message, { cause: error })))
    outgoing.once("response", (incoming) => resolve(replyOf(incoming)))
    outgoing.end(body)
  })
}

function replyOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 502, headersDistinct } = incoming
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  if (NO_BODY.has(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own type of the same thing
  return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, headers })
}

/** A reply that came instead of the connection. */
export interface Refused {
  readonly status: number
  readonly text: string
}

/** Longer than another hub needs to read a session from the store, shorter than official clients wait. */
const DIAL_MS = 10_000
const MAX_REFUSAL_CHARS = 64 * 1024

/** A WebSocket to another hub. It is not read before it is resumed, so nothing is missed. */
export function dialFellow(url: string, { headers, ca }: FellowWireOptions): Promise<WebSocket | Refused> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, ca, handshakeTimeout: DIAL_MS, perMessageDeflate: false })
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
