import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { fieldOf } from "@signalbox/protocol/envelope"
import type { Hangs } from "../scenario/hangs.ts"
import { BlockBuilder, type ReplyAction, type StreamEvent } from "../scenario/reply-events.ts"
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

/**
 * Plays a reply as server-sent events, or as one JSON answer with the same waits, where an error inside the stream becomes
 * an HTTP error. False if the client does not have all of it.
 */
export async function deliver(
  actions: Iterable<ReplyAction>,
  delivery: Delivery & { readonly isStreamed: boolean },
): Promise<boolean> {
  const { response, requestId, signal, isStreamed } = delivery
  const stream = new EventStream(delivery)
  const whole = new WholeMessage()
  for (const action of actions) {
    if (action.do === "aside") continue
    if (action.do === "send") {
      if (isStreamed) await stream.send(action.event)
      else whole.add(action.event)
      continue
    }
    await stream.flush()
    if (action.do === "pause") await delay(action.ms, undefined, { signal })
    else if (action.do === "hang") await stream.hang(action.name)
    else if (action.do === "cut") {
      if (response.headersSent) await delay(READING_MS, undefined, { signal })
      cut(response)
      return false
    } else {
      const { type, message } = action
      if (!isStreamed) sendError(response, { status: statusOf(type), type, message, requestId })
      else await stream.end({ ...errorBody(type, message, requestId) })
      return false
    }
  }
  if (isStreamed) await stream.end()
  else sendJson(response, 200, whole.value(), { "request-id": requestId })
  return true
}

export function deliverError(error: ErrorStep, { response, requestId }: Delivery): void {
  const headers = error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }
  const type = error.type ?? errorTypeOf(error.error)
  sendError(response, { status: error.error, type, message: error.message ?? "Scripted error", requestId, headers })
}

/** Ends the connection within the answer, after what was sent has arrived. A reset could overtake it. */
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

  async end(last?: StreamEvent): Promise<void> {
    if (last !== undefined) await this.send(last)
    await this.flush()
    this.#delivery.response.end()
  }
}

/** Puts the events of a stream together into the message they describe, for a client that did not ask for a stream. */
class WholeMessage {
  #message: Readonly<Record<string, unknown>> = {}
  readonly #blocks: BlockBuilder[] = []

  add(event: StreamEvent): void {
    const delta = fieldOf(event, "delta") ?? {}
    if (event.type === "message_start") this.#message = fieldOf(event, "message") ?? {}
    if (event.type === "content_block_start") this.#blocks.push(new BlockBuilder(fieldOf(event, "content_block") ?? {}))
    if (event.type === "content_block_delta") this.#blocks.at(-1)?.append(delta)
    if (event.type === "message_delta") this.#message = { ...this.#message, ...delta, usage: event["usage"] }
  }

  value(): Record<string, unknown> {
    return { ...this.#message, content: this.#blocks.map((block) => block.value()) }
  }
}
