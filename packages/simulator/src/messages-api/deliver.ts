import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import type { Hangs } from "../scenario/hangs.ts"
import type { ReplyAction, StreamEvent } from "../scenario/reply-events.ts"
import type { ErrorStep } from "../scenario/schema.ts"
import { errorBody, errorTypeOf, sendError, sendJson, statusOf } from "./json-answers.ts"

export interface Delivery {
  response: ServerResponse
  hangs: Hangs
  requestId: string
  signal: AbortSignal
}

/** Deltas are gathered up to here before they are written: a write for each would be most of the work. */
const BATCH_UNITS = 16 * 1024
const PING_MS = 10_000
/** A client may drop what it has not read when the connection ends: it gets this long for it. */
const READING_MS = 100

/** Plays a reply as server-sent events. False if the client does not have all of it. */
export async function deliverStream(actions: Iterable<ReplyAction>, delivery: Delivery): Promise<boolean> {
  const { response } = delivery
  const stream = new EventStream(delivery)
  for (const action of actions) {
    switch (action.do) {
      case "send":
        await stream.send(action.event)
        break
      case "pause":
        await stream.flush()
        await delay(action.ms, undefined, { signal: delivery.signal })
        break
      case "hang":
        await stream.flush()
        await stream.hang(action.name)
        break
      case "cut":
        await stream.flush()
        if (response.headersSent) await delay(READING_MS, undefined, { signal: delivery.signal })
        cut(response)
        return false
      case "aside":
        break
      case "fail":
        await stream.send({ ...errorBody(action.type, action.message, delivery.requestId) })
        await stream.end()
        return false
    }
  }
  await stream.end()
  return true
}

/** Plays a reply as one JSON answer, with the same waits. An error inside the stream becomes an HTTP error. */
export async function deliverWhole(actions: Iterable<ReplyAction>, delivery: Delivery): Promise<boolean> {
  const { response, hangs, signal, requestId } = delivery
  const message = new WholeMessage()
  for (const action of actions) {
    switch (action.do) {
      case "send":
        message.add(action.event)
        break
      case "pause":
        await delay(action.ms, undefined, { signal })
        break
      case "hang":
        await hangs.hold(action.name, signal)
        break
      case "cut":
        cut(response)
        return false
      case "aside":
        break
      case "fail":
        sendError(response, { status: statusOf(action.type), type: action.type, message: action.message, requestId })
        return false
    }
  }
  sendJson(response, 200, message.value(), { "request-id": requestId })
  return true
}

export function deliverError(error: ErrorStep, { response, requestId }: Delivery): void {
  const headers = error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }
  const type = error.type ?? errorTypeOf(error.error)
  sendError(response, { status: error.error, type, message: error.message ?? "Scripted error", requestId, headers })
}

/** What was sent arrives, then the connection ends within the answer. A reset could overtake what was sent. */
function cut(response: ServerResponse): void {
  if (response.socket === null) response.destroy()
  else response.socket.destroySoon()
}

class EventStream {
  readonly #delivery: Delivery
  #batch = ""

  constructor(delivery: Delivery) {
    this.#delivery = delivery
  }

  async send(event: StreamEvent): Promise<void> {
    this.#batch += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    if (this.#batch.length >= BATCH_UNITS) await this.flush()
  }

  /** Waits while the client is slower than the script, so that a flood is never held in memory. */
  async flush(): Promise<void> {
    const { response, requestId, signal } = this.#delivery
    signal.throwIfAborted()
    if (this.#batch === "") return
    if (!response.headersSent)
      response.writeHead(200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "request-id": requestId,
      })
    const batch = this.#batch
    this.#batch = ""
    if (!response.write(batch)) await once(response, "drain", { signal })
  }

  /** With pings once the reply has begun, as the real API does, so that no client gives up on a silent stream. */
  async hang(name: string | undefined): Promise<void> {
    const { response, hangs, signal } = this.#delivery
    const ping = setInterval(() => {
      if (response.headersSent) response.write('event: ping\ndata: {"type":"ping"}\n\n')
    }, PING_MS)
    try {
      await hangs.hold(name, signal)
    } finally {
      clearInterval(ping)
    }
  }

  async end(): Promise<void> {
    await this.flush()
    this.#delivery.response.end()
  }
}

type Fields = Record<string, unknown>
interface Building {
  block: Fields
  json: string
}

/** Puts the events of a stream together into the message they describe, for a client that did not ask for a stream. */
class WholeMessage {
  #message: Fields = {}
  readonly #blocks: Building[] = []

  add(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#message = fieldsOf(event["message"])
        break
      case "content_block_start":
        this.#blocks.push({ block: { ...fieldsOf(event["content_block"]) }, json: "" })
        break
      case "content_block_delta":
        this.#append(fieldsOf(event["delta"]))
        break
      case "message_delta":
        this.#message = { ...this.#message, ...fieldsOf(event["delta"]), usage: event["usage"] }
        break
    }
  }

  value(): Fields {
    const content = this.#blocks.map(({ block, json }) => (json === "" ? block : { ...block, input: JSON.parse(json) }))
    return { ...this.#message, content }
  }

  #append(delta: Fields): void {
    const building = this.#blocks.at(-1)
    if (building === undefined) return
    for (const [name, piece] of Object.entries(delta)) {
      if (name === "partial_json") building.json += textOf(piece)
      else if (name !== "type") building.block[name] = textOf(building.block[name]) + textOf(piece)
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** The events are our own: where one of these fields is missing the message simply lacks it. */
function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {}
}
