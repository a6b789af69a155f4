import { createServer, type IncomingHttpHeaders, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { textOf } from "@signalbox/protocol"
import {
  type AcceptedConnection,
  createHybridReceiver,
  createWebSocketAcceptor,
  type HybridConnection,
} from "@signalbox/transport"
import { onTestFinished } from "vitest"

interface Arrival {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface HostOptions {
  /** For each connection, once; what it does until the connection is over. */
  readonly onConnection?: (connection: HybridConnection, arrival: Arrival) => void | Promise<void>
  readonly maxPayloadBytes?: number
  readonly maxLineBytes?: number
}

const PATIENCE_MS = 20_000

export function typeOfLine(line: string): string {
  try {
    return textOf(JSON.parse(line), "type") ?? ""
  } catch {
    return "no message"
  }
}

/** A host that agents dial, on loopback: it keeps what they asked for and every line they said. Goes with the test. */
export class DialledHost {
  readonly upgrades: Arrival[] = []
  readonly posts: Arrival[] = []
  readonly lines: string[] = []
  /** The type of each line; `no message` for what is none. */
  readonly types: string[] = []
  readonly #options: HostOptions
  readonly #counts = new Map<string, number>()
  readonly #connections = new Set<HybridConnection>()
  readonly #receiver = createHybridReceiver()
  readonly #server: Server
  #wake: (() => void)[] = []
  #failure: unknown

  static async open(options: HostOptions = {}): Promise<DialledHost> {
    const host = new DialledHost(options)
    await new Promise<void>((resolve) => host.#server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => host.#close())
    return host
  }

  private constructor(options: HostOptions) {
    this.#options = options
    const { onConnection: _, ...limits } = options
    const acceptor = createWebSocketAcceptor(limits)
    this.#server = createServer((request, response) => {
      this.posts.push({ url: request.url ?? "", headers: request.headers })
      void this.#receiver.receiveEvents(request, response)
    })
    this.#server.on("upgrade", (request, socket, head) => {
      const arrival = { url: request.url ?? "", headers: request.headers }
      this.upgrades.push(arrival)
      void this.#accept(acceptor.handleUpgrade(request, socket, head), arrival)
    })
  }

  url(path: string): string {
    // A server that listens on TCP has an address of this form.
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`
  }

  count(type: string): number {
    return this.#counts.get(type) ?? 0
  }

  get open(): number {
    return this.#connections.size
  }

  /** 4001 tells every CLI not to come back. */
  async sendHome(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.closeWith(4001, "the test is over")))
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    const end = performance.now() + PATIENCE_MS
    const deadline = setTimeout(() => this.#wakeAll(), PATIENCE_MS)
    while (!condition()) {
      if (this.#failure !== undefined) throw this.#failure
      if (performance.now() >= end) throw new Error(`${what} did not come; ${this.lines.length} lines did`)
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
    clearTimeout(deadline)
  }

  async #accept(upgrade: Promise<AcceptedConnection | undefined>, arrival: Arrival): Promise<void> {
    const accepted = await upgrade
    if (accepted !== undefined) await this.#serve(this.#receiver.attach(accepted), arrival)
  }

  async #serve(connection: HybridConnection, arrival: Arrival): Promise<void> {
    this.#connections.add(connection)
    this.#wakeAll()
    try {
      void Promise.resolve(this.#options.onConnection?.(connection, arrival)).catch((error: unknown) => {
        this.#failure = error
      })
      for await (const line of connection.lines) {
        this.#take(line)
        this.#wakeAll()
      }
    } finally {
      this.#connections.delete(connection)
      this.#wakeAll()
    }
  }

  #take(line: string): void {
    const type = typeOfLine(line)
    this.lines.push(line)
    this.types.push(type)
    this.#counts.set(type, (this.#counts.get(type) ?? 0) + 1)
  }

  #wakeAll(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const resolve of waiting) resolve()
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close("test over")))
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
