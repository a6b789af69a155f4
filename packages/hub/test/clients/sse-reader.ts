import { get, type IncomingMessage } from "node:http"
import { type Envelope, isObject } from "@signalbox/protocol"

export interface SseFrame {
  readonly event: string
  readonly id: number | undefined
  readonly data: Readonly<Record<string, unknown>>
  readonly payload: Envelope
}

/** An event stream as a list of the frames that came. */
export class SseReader {
  readonly frames: SseFrame[] = []
  readonly response: IncomingMessage
  comments = 0
  readonly ended: Promise<void>
  #wakers: (() => void)[] = []
  #isOver = false

  private constructor(response: IncomingMessage) {
    this.response = response
    this.ended = this.#read(response)
  }

  static async open(url: string, token: string, lastEventId?: number): Promise<SseReader> {
    const cursor = lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) }
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", ...cursor }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { headers, agent: false }, resolve).on("error", reject)
    })
    return new SseReader(response)
  }

  get lastId(): number | undefined {
    return this.frames.findLast((frame) => frame.id !== undefined)?.id
  }

  async find(fits: (payload: Envelope) => boolean): Promise<SseFrame> {
    for (;;) {
      const found = this.frames.find((frame) => fits(frame.payload))
      if (found !== undefined) return found
      if (this.#isOver) throw new Error(`the stream ended before it came; got ${JSON.stringify(this.frames)}`)
      await new Promise<void>((resolve) => this.#wakers.push(resolve))
    }
  }

  ofType(type: string): Promise<SseFrame> {
    return this.find((payload) => payload.type === type)
  }

  types(): string[] {
    return this.frames.map((frame) => frame.payload.type)
  }

  close(): void {
    this.response.destroy()
  }

  async #read(response: IncomingMessage): Promise<void> {
    let text = ""
    try {
      for await (const chunk of response.setEncoding("utf8")) {
        text += String(chunk)
        this.comments += String(chunk).match(/^:$/gm)?.length ?? 0
        const parts = text.split("\n\n")
        text = parts.pop() ?? ""
        for (const part of parts) this.#take(part)
        this.#wake()
      }
    } catch {
      // Closed by us or by the hub: `frames` has what came.
    }
    this.#isOver = true
    this.#wake()
  }

  #take(part: string): void {
    const fields = new Map<string, string>()
    for (const line of part.split("\n")) {
      if (!line.startsWith(":")) fields.set(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim())
    }
    const data: unknown = JSON.parse(fields.get("data") ?? "{}")
    const id = fields.get("id")
    if (!isObject(data)) throw new Error(`no frame: ${part}`)
    const payload = isObject(data["payload"]) ? data["payload"] : {}
    const type = typeof payload["type"] === "string" ? payload["type"] : ""
    this.frames.push({
      event: fields.get("event") ?? "",
      id: id === undefined ? undefined : Number(id),
      data,
      payload: { ...payload, type },
    })
  }

  #wake(): void {
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }
}
