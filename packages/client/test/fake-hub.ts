import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"
import { quietPort } from "../../../test/quiet-port.ts"
import { FakeViewer, type ViewerFaults } from "./fake-viewer.ts"

export const TOKEN = "sbx_test"

export interface FakeEvent {
  readonly seq: number
  readonly at: string
  readonly from: "agent" | "client" | "hub"
  readonly message: Record<string, unknown>
}

export interface FakeCall {
  readonly method: string
  readonly path: string
  readonly query: Record<string, string>
  readonly body: Record<string, unknown>
}

/** What a route answers; undefined cuts the connection without a word. */
export type FakeReply = { readonly status?: number; readonly body?: unknown } | undefined

/**
 * A hub as small as can be: the calls that a test sets up, and the stream as the contract describes it. It can be made to
 * cut connections, merge lines into frames, lag, lose history and go away.
 */
export class FakeHub {
  readonly calls: FakeCall[] = []
  readonly logs = new Map<string, FakeEvent[]>()
  /** Sessions whose log no longer has what came before this. */
  readonly firstSeq = new Map<string, number>()
  readonly viewers = new Set<FakeViewer>()
  /** Every other socket. */
  onDirect: (path: string, socket: WebSocket) => void = (_, socket) => socket.close(1000)
  /** Whether a socket may come without a token: it says who it is in its first line. */
  takesAnonymousSockets = false
  /** One for each connection to come; when there are none left, connections have no faults. */
  readonly faults: ViewerFaults[] = []
  readonly routes = new Map<string, (call: FakeCall) => FakeReply | Promise<FakeReply>>()
  streamsOpened = 0
  token = TOKEN
  #server: Server | undefined
  readonly #sockets = new Set<Socket>()
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  route(name: string, answer: (call: FakeCall) => FakeReply | Promise<FakeReply>): void {
    this.routes.set(name, answer)
  }

  /** On the same port as before, if it was up before. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response))
    const upgrader = new WebSocketServer({ noServer: true })
    server.on("connection", (socket) => {
      this.#sockets.add(socket)
      socket.on("close", () => this.#sockets.delete(socket))
    })
    server.on("upgrade", (request, socket, head) => {
      const isDirect = request.url?.startsWith("/ws/") === true
      if (this.#isAllowed(request) || (isDirect && this.takesAnonymousSockets)) {
        upgrader.handleUpgrade(request, socket, head, (webSocket) => this.#accept(request.url ?? "", webSocket))
      } else {
        socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
      }
    })
    if (this.#port === 0) this.#port = await quietPort()
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve))
    this.#server = server
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    this.viewers.clear()
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()))
  }

  log(session: string): FakeEvent[] {
    const known = this.logs.get(session) ?? []
    this.logs.set(session, known)
    return known
  }

  append(session: string, count = 1): void {
    const log = this.log(session)
    for (let n = 0; n < count; n++) {
      const seq = log.length + 1
      log.push({ seq, at: "2030-01-01T00:00:00.000Z", from: "agent", message: { type: "assistant", n: seq } })
      for (const viewer of this.viewers) viewer.pump(session)
    }
  }

  delta(session: string, text: string): void {
    for (const viewer of this.viewers) viewer.delta(session, { type: "stream_event", text })
  }

  tell(line: Record<string, unknown>): void {
    for (const viewer of this.viewers) viewer.send(line)
  }

  /** Ends every stream, as a crash would. */
  cut(): void {
    for (const viewer of this.viewers) viewer.cut()
  }

  #isAllowed(request: IncomingMessage): boolean {
    return request.headers.authorization === `Bearer ${this.token}` || request.headers.cookie === `login=${this.token}`
  }

  #accept(path: string, webSocket: WebSocket): void {
    if (path === "/api/stream") {
      this.streamsOpened++
      const viewer = new FakeViewer(webSocket, this, this.faults.shift() ?? {})
      this.viewers.add(viewer)
      webSocket.on("close", () => this.viewers.delete(viewer))
      return
    }
    webSocket.on("error", () => undefined)
    this.onDirect(path, webSocket)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(Buffer.from(chunk))
    } catch {
      return
    }
    const url = new URL(request.url ?? "/", "http://hub")
    const text = Buffer.concat(chunks).toString()
    const call: FakeCall = {
      method: request.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body: text === "" ? {} : JSON.parse(text),
    }
    this.calls.push(call)
    const reply = this.#isAllowed(request)
      ? await this.#reply(call)
      : refused(401, "auth/required", "a token is needed")
    if (reply === undefined) return void request.socket.destroy()
    response.writeHead(reply.status ?? 200, { "Content-Type": "application/json" })
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}))
  }

  #reply(call: FakeCall): FakeReply | Promise<FakeReply> {
    const route = this.routes.get(`${call.method} ${call.path}`)
    if (route !== undefined) return route(call)
    if (call.path === "/api/me") return { body: { role: "operator", name: "test" } }
    const session = /^\/api\/sessions\/([^/]+)$/.exec(call.path)?.[1]
    if (session !== undefined && this.logs.has(session)) return { body: { id: session, state: "idle" } }
    return refused(404, "session/unknown", "there is no such thing")
  }
}

export function refused(status: number, code: string, message: string, details: object = {}): FakeReply {
  return { status, body: { error: { code, message }, ...details } }
}
