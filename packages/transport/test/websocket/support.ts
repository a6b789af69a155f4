import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { WebSocket, WebSocketServer } from "ws"
import { type AcceptedConnection, type AcceptorOptions, type Clock, createWebSocketAcceptor } from "../../src/index.ts"
import type { ContractPeer } from "../../src/testing/index.ts"

/** Values that arrive one by one, for a test that waits for the next. */
export class Inbox<T> {
  readonly all: T[] = []
  #taken = 0
  #waiting: ((value: T) => void)[] = []

  put(value: T): void {
    this.all.push(value)
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return
    this.#taken++
    waiting(value)
  }

  next(): Promise<T> {
    const value = this.all[this.#taken]
    if (value === undefined) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#taken++
    return Promise.resolve(value)
  }

  async until(accept: (value: T) => boolean): Promise<T> {
    for (;;) {
      const value = await this.next()
      if (accept(value)) return value
    }
  }
}

export interface TestServer {
  readonly server: Server
  readonly port: number
  readonly url: string
  readonly close: () => Promise<void>
}

async function listen(port = 0): Promise<TestServer> {
  const server = createServer()
  const sockets = new Set<Socket>()
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", resolve)
  })
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return {
    server,
    port: address.port,
    url: `ws://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A server with our acceptor on it. Connections come out in the order in which they were made; undefined is a refusal. */
export async function listenAccepting(
  options: AcceptorOptions,
  onRequest?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<TestServer & { accepted: Inbox<AcceptedConnection | "none"> }> {
  const listening = await listen()
  const acceptor = createWebSocketAcceptor({ closeTimeoutMs: 300, ...options })
  const accepted = new Inbox<AcceptedConnection | "none">()
  listening.server.on("upgrade", (request, socket, head) => {
    void acceptor.handleUpgrade(request, socket, head).then((connection) => accepted.put(connection ?? "none"))
  })
  if (onRequest !== undefined) listening.server.on("request", onRequest)
  return { ...listening, accepted }
}

/** Our end and a raw `ws` client's end of one connection. */
export async function acceptOne(options: AcceptorOptions = {}, path = "/ws/cli/a") {
  const server = await listenAccepting(options)
  const client = new WebSocket(`${server.url}${path}`, { perMessageDeflate: false })
  const raw = rawSocket(client)
  const [connection] = await Promise.all([server.accepted.next(), raw.opened])
  if (connection === "none") throw new Error("the connection was refused")
  return {
    connection,
    client,
    raw,
    dispose: async () => {
      await connection.close("test over")
      client.terminate()
      await server.close()
    },
  }
}

export interface RawEnd {
  readonly opened: Promise<void>
  readonly frames: Inbox<{ text: string; isBinary: boolean }>
  readonly lines: Inbox<string>
  readonly ended: Promise<{ code: number; reason: string }>
}

/** Watches a raw socket. Every frame must be whole lines, each with its newline: that is a rule of its own. */
export function rawSocket(socket: WebSocket): RawEnd {
  const frames = new Inbox<{ text: string; isBinary: boolean }>()
  const lines = new Inbox<string>()
  socket.on("error", () => undefined)
  socket.on("message", (data, isBinary) => {
    if (!Buffer.isBuffer(data)) throw new Error("ws gives buffers unless told otherwise")
    const text = data.toString("utf8")
    frames.put({ text, isBinary })
    if (!text.endsWith("\n")) throw new Error(`a frame without a final newline: ${text.slice(0, 100)}`)
    for (const line of text.slice(0, -1).split("\n")) lines.put(line)
  })
  return {
    frames,
    lines,
    opened:
      socket.readyState === WebSocket.OPEN
        ? Promise.resolve()
        : new Promise((resolve) => socket.once("open", () => resolve())),
    ended: new Promise((resolve) =>
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })),
    ),
  }
}

export function socketPeer(socket: WebSocket, raw: RawEnd): ContractPeer {
  return {
    send: (line) => sendFrame(socket, `${line}\n`),
    receive: () => raw.lines.next(),
    async end() {
      socket.close(1000, "peer ended")
      await raw.ended
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  }
}

export function sendFrame(
  socket: WebSocket,
  data: string | Buffer,
  options: { fin?: boolean; binary?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => socket.send(data, options, (error) => (error ? reject(error) : resolve())))
}

export interface RawAgentServer extends TestServer {
  readonly sockets: Inbox<WebSocket>
  readonly requests: Inbox<IncomingMessage>
  /** New connections are not read from the start. */
  socketsPaused: boolean
}

/** A raw `ws` server for our dialled end. `answer` may refuse an upgrade with a status, or add headers to the reply. */
export async function listenRaw(
  answer: (request: IncomingMessage) => { status: number } | { headers: string[] } = () => ({ headers: [] }),
  port = 0,
): Promise<RawAgentServer> {
  const listening = await listen(port)
  const sockets = new Inbox<WebSocket>()
  const requests = new Inbox<IncomingMessage>()
  const server = new WebSocketServer({ noServer: true })
  server.on("headers", (headers, request) => {
    const reply = answer(request)
    if ("headers" in reply) headers.push(...reply.headers)
  })
  listening.server.on("upgrade", (request, socket, head) => {
    requests.put(request)
    const reply = answer(request)
    if ("status" in reply) {
      socket.end(`HTTP/1.1 ${reply.status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      return
    }
    server.handleUpgrade(request, socket, head, (client) => {
      if (raw.socketsPaused) client.pause()
      sockets.put(client)
    })
  })
  const raw: RawAgentServer = { ...listening, sockets, requests, socketsPaused: false }
  return raw
}

/** A port where nobody listens. */
export async function deadPort(): Promise<number> {
  const { port, close } = await listen()
  await close()
  return port
}

/** Completes the upgrade by hand, so that frames can be written, or left unanswered, byte by byte. */
export async function rawUpgrade(port: number, path = "/ws/cli/a"): Promise<Socket> {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
  )
  await new Promise<void>((resolve) => {
    let head = ""
    const onData = (chunk: Buffer) => {
      head += chunk.toString("latin1")
      if (!head.includes("\r\n\r\n")) return
      socket.off("data", onData)
      resolve()
    }
    socket.on("data", onData)
  })
  return socket
}

/** Waits until a number has stopped changing: nothing more happens by itself. */
export async function settled(read: () => number): Promise<void> {
  let before = Number.NaN
  let same = 0
  while (same < 20) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = read()
    same = now === before ? same + 1 : 0
    before = now
  }
}

/** A clock that stands still until it is told. */
export class FakeClock implements Clock {
  #now = 1_000_000
  #timers: { at: number; run: () => void }[] = []
  #armed = 0

  now(): number {
    return this.#now
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + delayMs, run }
    this.#timers.push(timer)
    this.#armed++
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** Timers that were ever set: it grows when a new one is. */
  get armed(): number {
    return this.#armed
  }

  get pending(): number {
    return this.#timers.length
  }

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== due)
      this.#now = Math.max(this.#now, due.at)
      due.run()
    }
    this.#now = end
  }

  /** The machine sleeps: time passes and timers do not. */
  sleep(ms: number): void {
    this.#now += ms
  }
}
