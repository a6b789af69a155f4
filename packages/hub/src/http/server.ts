import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { getRequestListener } from "@hono/node-server"
import { HubError } from "../errors.ts"
import { refuseSocket } from "./door.ts"
import { type ListeningAddress, type ListenOptions, listen } from "./listen.ts"
import type { Bindings } from "./read-request.ts"
import { errorReply, SECURITY_HEADERS } from "./reply.ts"

export interface HttpServerOptions {
  readonly fetch: (request: Request, bindings: Bindings) => Response | Promise<Response>
  /** Takes the socket over, whatever it does with it. */
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** `POST …/session/…/events` and `POST /events`, as agents send it: answered there, never here. */
  onAgentPost(request: IncomingMessage, response: ServerResponse): void
  readonly limits?: Partial<ServerLimits>
}

interface ServerLimits {
  readonly maxConnections: number
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
  /** Until the headers, and until the whole request, are here: whoever sends a byte at a time is cut off. */
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** How often those are looked after. */
  readonly checkIntervalMs: number
  /** How long requests under way may go on after `close`. */
  readonly closeGraceMs: number
}

const DEFAULT_LIMITS: ServerLimits = {
  maxConnections: 10_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 120_000,
  keepAliveTimeoutMs: 15_000,
  checkIntervalMs: 5_000,
  closeGraceMs: 2_000,
}

export interface HttpServer {
  readonly listen: (options: ListenOptions) => Promise<ListeningAddress>
  /** Takes no more, lets what is under way finish for a moment, then ends every connection. May be called again. */
  readonly close: () => Promise<void>
}

/** The raw server: limits, upgrades and agents' posts are dealt with before the app sees a request. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const upgraded = new Set<Duplex>()
  const server = createLimitedServer(limits)
  const answer = answerWith(options)
  let closing: Promise<void> | undefined
  server.on("request", (request, response) => {
    // A connection that is kept alive after its last reply would hold `close` up until it is idle for long enough.
    response.once("close", () => setImmediate(() => closing && server.closeIdleConnections()))
    if (!isPath(request.url)) return refuse(response, new HubError("request/invalid", "The target must be a path"))
    if (isAgentPost(request)) orDestroy(response, () => options.onAgentPost(request, response))
    else void answer(request, response)
  })
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    track(upgraded, socket)
    if (isPath(request.url)) orDestroy(socket, () => options.onUpgrade(request, socket, head))
    else refuseRaw(socket, 400)
  })
  server.on("clientError", refuseUnreadable)
  return {
    listen: (where) => listen(server, where),
    close: () => (closing ??= close(server, upgraded, limits.closeGraceMs)),
  }
}

function createLimitedServer(limits: ServerLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
  })
  server.maxHeadersCount = limits.maxHeaders
  server.maxConnections = limits.maxConnections
  return server
}

function answerWith({
  fetch,
}: HttpServerOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return getRequestListener(
    // The other kind of message is HTTP/2's, which this server does not speak.
    (request, { incoming, outgoing }) =>
      fetch(
        request,
        incoming instanceof IncomingMessage && outgoing instanceof ServerResponse ? { incoming, outgoing } : {},
      ),
    {
      // The hub may live inside somebody's program: its globals are not ours to replace.
      overrideGlobalObjects: false,
      errorHandler() {
        const reply = errorReply(new HubError("request/invalid", "The request's target or Host cannot be read"))
        for (const [name, value] of Object.entries(SECURITY_HEADERS)) reply.headers.set(name, value)
        return reply
      },
    },
  )
}

/** Neither `*` nor the URL of some other place, with or without its scheme: who resolves it later must not be fooled. */
function isPath(url: string | undefined): boolean {
  return url !== undefined && /^\/(?![/\\])/.test(url) && URL.canParse(url, "http://localhost")
}

/** One request that a callback stumbles over costs one connection, not the process. */
function orDestroy(connection: { destroy(): unknown }, run: () => void): void {
  try {
    run()
  } catch {
    connection.destroy()
  }
}

/** The path of an agent's WebSocket with `/ws/` as `/session/`, and `/events` after it. An agent at the root posts to `/events`. */
function isAgentPost({ method, url = "" }: IncomingMessage): boolean {
  return method === "POST" && /^(?:[^?]*\/session\/[^?]+)?\/events(?:\?|$)/.test(url)
}

function track(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket)
  socket.once("close", () => sockets.delete(socket))
  // Until somebody else listens, and after: an error without a listener would end the process.
  socket.on("error", () => socket.destroy())
}

function refuse(response: ServerResponse, error: HubError): void {
  const { code, message, status } = error
  response.writeHead(status, { ...SECURITY_HEADERS, "content-type": "application/json", connection: "close" })
  response.end(JSON.stringify({ error: { code, message } }))
}

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  // With something written already, a reply would be read as part of that.
  const untouched = "bytesWritten" in socket && socket.bytesWritten === 0
  if (!socket.writable || !untouched) return void socket.destroy()
  if (error.code === "HPE_HEADER_OVERFLOW") return refuseRaw(socket, 431)
  refuseRaw(socket, error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400)
}

function refuseRaw(socket: Duplex, status: 400 | 408 | 431): void {
  const code = status === 431 ? "request/too-large" : "request/invalid"
  refuseSocket(socket, { status, code, message: `${STATUS_CODES[status]}: this is not HTTP as we read it` })
}

function close(server: Server, upgraded: ReadonlySet<Duplex>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections()
      for (const socket of upgraded) socket.destroy()
    }, graceMs)
    // Its error only says that it did not listen.
    server.close(() => {
      clearTimeout(timer)
      resolve()
    })
    server.closeIdleConnections()
  })
}
