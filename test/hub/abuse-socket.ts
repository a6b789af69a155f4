import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { Json } from "./hub-process.ts"

interface UpgradeOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Refused {
  readonly status: number
  readonly head: string
}

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10
/** A mask of zeros is a mask: the payload stays as it is, and giant frames cost nothing to make. */
const NO_MASK = Buffer.alloc(4)

/**
 * A WebSocket client that does what no library lets one do: half frames, half lines, no reading at all. It keeps the lines
 * it was sent, answers pings, and says how it was closed.
 */
export class RawSocket {
  readonly socket: Socket
  readonly lines: Json[] = []
  readonly closed: Promise<number>
  onLine: ((line: Json) => void) | undefined
  /** Off: what comes is counted and forgotten. */
  isKeeping = true
  received = 0
  #pending: Buffer = Buffer.alloc(0)
  #text = ""
  #waiters: (() => void)[] = []
  #code: number | undefined

  private constructor(socket: Socket, rest: Buffer) {
    this.socket = socket
    // Whatever ends it, `closed` tells.
    socket.on("error", () => undefined)
    this.closed = closeOf(socket).then(() => {
      this.#code ??= 1006
      this.#wake()
      return this.#code
    })
    socket.on("data", (bytes: Buffer) => this.#read(bytes))
    if (rest.length > 0) this.#read(rest)
  }

  /** Connected, or how it was refused. */
  static async upgrade(url: string, options: UpgradeOptions = {}): Promise<RawSocket | Refused> {
    const { hostname, port, host, pathname, search } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on("error", () => undefined)
    const headers = {
      Host: host,
      Upgrade: "websocket",
      Connection: "Upgrade",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
      "Sec-WebSocket-Version": "13",
      ...(options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` }),
      ...options.headers,
    }
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${head.join("")}\r\n`)
    const { text, rest } = await readHead(socket)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
    if (status === 101) return new RawSocket(socket, rest)
    socket.destroy()
    return { status, head: text }
  }

  static async open(url: string, options: UpgradeOptions = {}): Promise<RawSocket> {
    const opened = await RawSocket.upgrade(url, options)
    if (opened instanceof RawSocket) return opened
    throw new Error(`${new URL(url).pathname} was refused: ${opened.status} ${opened.head}`)
  }

  get isOpen(): boolean {
    return this.#code === undefined && !this.socket.destroyed
  }

  /** One message as a line of its own. */
  say(message: unknown): boolean {
    return this.write(`${JSON.stringify(message)}\n`)
  }

  /** One frame. False when the socket is full. */
  write(payload: string | Uint8Array, opcode = TEXT): boolean {
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload
    this.socket.cork()
    this.socket.write(frameHead(opcode, bytes.length))
    const hasRoom = this.socket.write(bytes)
    this.socket.uncork()
    return hasRoom
  }

  /** Resolves when all that was written has left, or the connection is over. */
  async drained(): Promise<void> {
    if (this.socket.writableNeedDrain && !this.socket.destroyed) await drainOf(this.socket)
  }

  /** The first line, of those that came and those to come, that is meant. */
  async until(isMeant: (line: Json) => boolean, timeoutMs = 20_000): Promise<Json> {
    const deadline = performance.now() + timeoutMs
    for (let next = 0; ; ) {
      while (next < this.lines.length) {
        const line = this.lines[next++]
        if (isMeant(line)) return line
      }
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`not within ${timeoutMs} ms; the last was ${brief(this.lines.at(-1))}`)
      if (!this.isOpen) throw new Error(`closed with ${this.#code} before it came`)
      await this.#more(left)
    }
  }

  end(): void {
    this.socket.destroy()
  }

  async #more(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.#waiters.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake()
  }

  #read(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    for (;;) {
      const frame = readFrame(this.#pending)
      if (frame === undefined) return
      this.#pending = this.#pending.subarray(frame.length)
      this.#take(frame.opcode, frame.payload)
    }
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === PING) this.write(payload, PONG)
    if (opcode === CLOSE) {
      this.#code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
      this.write(payload.subarray(0, 2), CLOSE)
      this.socket.end()
      this.#wake()
    }
    if (opcode > TEXT) return
    this.received += payload.length
    if (!this.isKeeping) return
    const lines = (this.#text + payload.toString()).split("\n")
    this.#text = lines.pop() ?? ""
    for (const text of lines) {
      const line: Json = JSON.parse(text)
      this.lines.push(line)
      this.onLine?.(line)
    }
    this.#wake()
  }
}

function frameHead(opcode: number, length: number): Buffer {
  const size = length < 126 ? [0x80 | length] : length < 65_536 ? [0x80 | 126] : [0x80 | 127]
  const more = Buffer.alloc(length < 126 ? 0 : length < 65_536 ? 2 : 8)
  if (more.length === 2) more.writeUInt16BE(length)
  if (more.length === 8) more.writeBigUInt64BE(BigInt(length))
  return Buffer.concat([Buffer.from([0x80 | opcode, ...size]), more, NO_MASK])
}

function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | undefined {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return undefined
  const short = second & 0x7f
  const headLength = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < headLength) return undefined
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < headLength + size) return undefined
  const payload = bytes.subarray(headLength, headLength + size)
  return { opcode: first & 0x0f, payload, length: headLength + size }
}

async function readHead(socket: Socket): Promise<{ text: string; rest: Buffer }> {
  let bytes = Buffer.alloc(0)
  return new Promise((resolve) => {
    const finish = (end: number) => {
      socket.off("data", take)
      socket.off("close", over)
      resolve({ text: bytes.subarray(0, end).toString(), rest: bytes.subarray(end) })
    }
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf("\r\n\r\n")
      if (end >= 0) finish(end + 4)
    }
    const over = () => finish(bytes.length)
    socket.on("data", take)
    socket.once("close", over)
  })
}

/** Whatever the reason: unlike `once`, an error does not come first. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve())
  })
}

function drainOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      socket.off("drain", finish)
      socket.off("close", finish)
      resolve()
    }
    socket.once("drain", finish)
    socket.once("close", finish)
  })
}

function brief(line: Json): string {
  return (JSON.stringify(line) ?? "nothing").slice(0, 200)
}

/** Sends bytes as they are and returns all that comes back until the other side closes. */
export async function rawHttp(url: string, parts: readonly (string | Uint8Array)[]): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let reply = ""
  socket.on("data", (bytes: Buffer) => {
    reply += bytes.toString("latin1")
  })
  socket.on("error", () => undefined)
  const closed = closeOf(socket)
  for (const part of parts) {
    if (socket.destroyed) break
    if (!socket.write(part)) await drainOf(socket)
  }
  await closed
  return reply
}
