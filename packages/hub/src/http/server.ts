import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { Authority } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import { refuseSocket } from "./door.ts"
import { type ListeningAddress, type ListenOptions, listen } from "./listen.ts"
import type { Bindings } from "./read-request.ts"
import { errorReply, SECURITY_HEADERS } from "./reply.ts"

interface LoadedApp {
  fetch(request: Request, bindings: Bindings): Response | Promise<Response>
}

export interface HttpServerOptions {
  /** Meets the token of each request before anybody looks at it: the token may be in the store alone. */
  readonly authority: Pick<Authority, "meet">
  /** Called once. Agents and viewers are let in before it is loaded: an old CLI comes back for only a few seconds. */
  readonly loadApp: () => Promise<LoadedApp>
  /** Answers what other hubs ask, below `/cluster`. */
  readonly onFellow?: ((request: Request) => Promise<Response>) | undefined
  /** Takes the socket over, whatever it does with it. */
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** `POST …/session/…/events` and `POST /events`, as agents send it: answered there, never here. */
  onAgentPost(request: IncomingMessage, response: ServerResponse): void | Promise<void>
  /** Requests cannot be answered now. */
  readonly onTrouble?: (error: unknown) => void
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
  // The listener loads after the server listens, or with the first request: without the app and the web's own objects a hub is ready sooner.
  const load = loadedOnce(
    () => openListener(options),
    (error) => options.onTrouble?.(error),
  )
  const answer: RequestListener = async (request, response) => {
    const listenTo = await load().catch(() => undefined)
    if (listenTo === undefined) response.destroy()
    else await listenTo(request, response)
  }
  // A store that cannot be read, or a callback that stumbles, costs one connection: whoever is cut off tries again.
  const meet = (request: IncomingMessage, connection: { destroy(): unknown }, enter: () => void | Promise<void>) =>
    void options.authority
      .meet(request.headers.authorization)
      .then(enter)
      .catch(() => connection.destroy())
  let closing: Promise<void> | undefined
  server.on("request", (request, response) => {
    // A connection that is kept alive after its last reply would hold `close` up until it is idle for long enough.
    response.once("close", () => setImmediate(() => closing && server.closeIdleConnections()))
    if (!isPath(request.url)) return refuse(response, new HubError("request/invalid", "The target must be a path"))
    if (isAgentPost(request)) meet(request, response, () => options.onAgentPost(request, response))
    else void answer(request, response)
  })
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    track(upgraded, socket)
    const enter = () => options.onUpgrade(request, socket, head)
    if (!isPath(request.url)) return refuseRaw(socket, 400)
    // Another hub shows its own secret, and is no bearer of a token.
    if (isOfFellow(request)) enter()
    else meet(request, socket, enter)
  })
  server.on("clientError", refuseUnreadable)
  return {
    listen: async (where) => {
      const address = await listen(server, where)
      load().catch(() => undefined)
      return address
    },
    close: () => (closing ??= close(server, upgraded, limits.closeGraceMs)),
  }
}

/** Loads when somebody first wants it. A load that failed is tried again by the next one; the trouble is told once. */
export function loadedOnce<T>(load: () => Promise<T>, onTrouble: (error: unknown) => void): () => Promise<T> {
  let loading: Promise<T> | undefined
  let isTold = false
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined
      if (!isTold) onTrouble(error)
      isTold = true
      throw error
    }))
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

type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>

async function openListener({ authority, loadApp, onFellow }: HttpServerOptions): Promise<RequestListener> {
  const [{ getRequestListener }, app] = await Promise.all([import("@hono/node-server"), loadApp()])
  return getRequestListener(
    async (request, { incoming, outgoing }) => {
      if (onFellow !== undefined && request.url.includes("/cluster/") && isClusterPath(request.url))
        return onFellow(request)
      await authority.meet(request.headers.get("authorization") ?? undefined)
      // The other kind of message is HTTP/2's, which this server does not speak.
      const isOurs = incoming instanceof IncomingMessage && outgoing instanceof ServerResponse
      return app.fetch(request, isOurs ? { incoming, outgoing } : {})
    },
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

function isClusterPath(url: string): boolean {
  return new URL(url).pathname.startsWith("/cluster/")
}

/** Another hub asks, or says that it is one. */
function isOfFellow({ url = "" }: IncomingMessage): boolean {
  return url.startsWith("/cluster/")
}

/** Neither `*` nor the URL of some other place, with or without its scheme: who resolves it later must not be fooled. */
function isPath(url: string | undefined): boolean {
  return url !== undefined && /^\/(?![/\\])/.test(url) && URL.canParse(url, "http://localhost")
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
  const why =
    status === 408 ? "the request did not come in time, and nothing was done" : "this is not HTTP as we read it"
  refuseSocket(socket, { status, code, message: `${STATUS_CODES[status]}: ${why}` })
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
