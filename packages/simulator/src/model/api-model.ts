import { request as httpRequest, type IncomingMessage } from "node:http"
import { json } from "node:stream/consumers"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { eventsIn } from "../event-stream.ts"
import { requireLoopbackUrl } from "../messages-api/claude-environment.ts"
import type { Fields } from "../profiles/profile.ts"
import type { StreamEvent } from "../scenario/reply-events.ts"
import type { Model, ModelAction, ModelRequest } from "./model.ts"

/** A Messages API on this machine speaks for the model, as it would to a real CLI. */
export class ApiModel implements Model {
  readonly #url: string
  readonly #key: string
  readonly #headers: Readonly<Record<string, string>>
  #requestId = ""

  constructor(url: string, key: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = requireLoopbackUrl(url)
    this.#key = key
    this.#headers = headers
  }

  requestId(): string {
    return this.#requestId
  }

  async *call(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelAction> {
    const response = await this.#post(request, signal)
    if (response === undefined) return yield { do: "cut" }
    const requestId = response.headers["request-id"]
    this.#requestId = typeof requestId === "string" ? requestId : ""
    if (response.statusCode !== 200) return yield await errorOf(response)
    try {
      for await (const event of eventsOf(response)) {
        if (event.type === "error") return yield failureOf(event)
        yield { do: "send", event }
      }
    } catch {
      // The connection broke, or we broke it off: an abort is looked for by whoever listens.
      yield { do: "cut" }
    }
  }

  /** Not by `fetch`: what Node loads for it takes longer than a short turn, and longer still to end. */
  #post(request: ModelRequest, signal: AbortSignal): Promise<IncomingMessage | undefined> {
    const agent = request.agent === undefined ? {} : { "x-claude-code-agent-id": request.agent.id }
    const headers = {
      ...this.#headers,
      "content-type": "application/json",
      "x-api-key": this.#key,
      "x-claude-code-session-id": request.sessionId,
      ...agent,
    }
    const url = new URL("/v1/messages?beta=true", this.#url)
    return new Promise((resolve) => {
      const sent = httpRequest(url, { method: "POST", signal, headers }, resolve)
      sent.once("error", () => resolve(undefined))
      sent.end(JSON.stringify(bodyOf(request)))
    })
  }
}

function bodyOf({ model, messages, tools }: ModelRequest): Fields {
  return {
    model,
    max_tokens: 32_000,
    stream: true,
    system: "You are a simulated agent.",
    tools: tools.map((name) => ({ name, input_schema: { type: "object" } })),
    messages: messages.map(({ role, content }) => ({ role, content })),
  }
}

async function errorOf(response: IncomingMessage): Promise<ModelAction> {
  // An error without a body is an error all the same.
  const error = fieldOf(await json(response).catch(() => undefined), "error")
  return {
    do: "error",
    status: response.statusCode ?? 0,
    type: textOf(error, "type") ?? "api_error",
    message: textOf(error, "message") ?? response.statusMessage ?? "",
  }
}

function failureOf(event: StreamEvent): ModelAction {
  const error = event["error"]
  return { do: "fail", type: textOf(error, "type") ?? "api_error", message: textOf(error, "message") ?? "" }
}

/** The events that are messages of the API. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  for await (const { data } of eventsIn(body)) {
    const event: unknown = JSON.parse(data)
    const type = textOf(event, "type")
    if (isObject(event) && type !== undefined) yield { ...event, type }
  }
}
