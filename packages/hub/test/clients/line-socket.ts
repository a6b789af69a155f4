import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { RawData, WebSocket } from "ws"

/** A WebSocket as a list of the messages that came, each looked for as often as one likes. */
export class LineSocket {
  readonly messages: Envelope[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  readonly #socket: WebSocket
  #wakers: (() => void)[] = []
  #isClosed = false

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data: RawData) => this.#receive(data))
    socket.on("error", () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        this.#isClosed = true
        resolve({ code, reason: reason.toString() })
        this.#wake()
      })
    })
  }

  static async open(socket: WebSocket): Promise<LineSocket> {
    const lines = new LineSocket(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once("open", () => resolve())
      socket.once("error", reject)
    })
    return lines
  }

  send(message: unknown): void {
    this.#socket.send(`${JSON.stringify(message)}\n`)
  }

  sendRaw(text: string): void {
    this.#socket.send(text)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** The first message that fits, now or later. */
  async find(fits: (message: Envelope) => boolean, what = "a message"): Promise<Envelope> {
    for (;;) {
      const found = this.messages.find(fits)
      if (found !== undefined) return found
      if (this.#isClosed) throw new Error(`closed before ${what} came; got ${JSON.stringify(this.messages)}`)
      await new Promise<void>((resolve) => this.#wakers.push(resolve))
    }
  }

  ofType(type: string): Promise<Envelope> {
    return this.find((message) => message.type === type, type)
  }

  request(subtype: string): Promise<Envelope> {
    return this.find((message) => requestIn(message)?.["subtype"] === subtype, subtype)
  }

  reply(requestId: string): Promise<Readonly<Record<string, unknown>>> {
    return this.find((message) => textOf(fieldOf(message, "response"), "request_id") === requestId, requestId).then(
      (message) => fieldOf(message, "response") ?? {},
    )
  }

  /** Sends a control request and waits for its reply. */
  ask(requestId: string, request: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> {
    this.send({ type: "control_request", request_id: requestId, request })
    const reply = this.reply(requestId)
    // Some questions of a test are never answered, and end with the socket.
    reply.catch(() => undefined)
    return reply
  }

  answer(request: Envelope, response: unknown): void {
    const request_id = textOf(request, "request_id")
    this.send({ type: "control_response", response: { subtype: "success", request_id, response } })
  }

  fail(request: Envelope, error: string): void {
    this.send({
      type: "control_response",
      response: { subtype: "error", request_id: textOf(request, "request_id"), error },
    })
  }

  types(): string[] {
    return this.messages.map((message) => message.type)
  }

  close(): void {
    this.#socket.close()
  }

  #receive(data: RawData): void {
    const text = Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString()
    for (const line of text.split("\n")) {
      const value: unknown = line === "" ? undefined : JSON.parse(line)
      if (isObject(value)) this.messages.push({ ...value, type: textOf(value, "type") ?? "" })
    }
    this.#wake()
  }

  #wake(): void {
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }
}

export function requestIn(message: Envelope): Readonly<Record<string, unknown>> | undefined {
  return message.type === "control_request" ? fieldOf(message, "request") : undefined
}
