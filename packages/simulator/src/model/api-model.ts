import { isObject, textOf } from "@signalbox/protocol/envelope"
import { requireLoopbackUrl } from "../messages-api/loopback.ts"
import type { Fields } from "../profiles/profile.ts"
import type { StreamEvent } from "../scenario/reply-events.ts"
import type { ToolStep } from "../scenario/schema.ts"
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

  call(request: ModelRequest, signal: AbortSignal): AsyncIterator<ModelAction> {
    return this.#stream(request, signal)
  }

  stepOf(): ToolStep | undefined {
    return undefined
  }

  costOfTurn(): number | undefined {
    return undefined
  }

  requestId(): string {
    return this.#requestId
  }

  hang(): Promise<void> {
    return Promise.resolve()
  }

  async *#stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelAction> {
    const response = await this.#post(request, signal)
    if (response === undefined) return yield { do: "cut" }
    this.#requestId = response.headers.get("request-id") ?? ""
    if (!response.ok || response.body === null) return yield await errorOf(response)
    try {
      for await (const event of eventsOf(response.body)) {
        if (event.type === "error") return yield failureOf(event)
        yield { do: "send", event }
      }
    } catch {
      // The connection broke, or we broke it off: an abort is looked for by whoever listens.
      yield { do: "cut" }
    }
  }

  async #post(request: ModelRequest, signal: AbortSignal): Promise<Response | undefined> {
    const agent = request.agent === undefined ? {} : { "x-claude-code-agent-id": request.agent.id }
    try {
      return await fetch(new URL("/v1/messages?beta=true", this.#url), {
        method: "POST",
        signal,
        headers: {
          ...this.#headers,
          "content-type": "application/json",
          "x-api-key": this.#key,
          "x-claude-code-session-id": request.sessionId,
          ...agent,
        },
        body: JSON.stringify(bodyOf(request)),
      })
    } catch {
      return undefined
    }
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

async function errorOf(response: Response): Promise<ModelAction> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = isObject(body) ? body["error"] : undefined
  return {
    do: "error",
    status: response.status,
    type: textOf(error, "type") ?? "api_error",
    message: textOf(error, "message") ?? response.statusText,
  }
}

function failureOf(event: StreamEvent): ModelAction {
  const error = event["error"]
  return { do: "fail", type: textOf(error, "type") ?? "api_error", message: textOf(error, "message") ?? "" }
}

/** Server-sent events, whatever the chunks. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let pending = ""
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true })
    const frames = pending.split("\n\n")
    pending = frames.pop() ?? ""
    for (const frame of frames) yield* eventIn(frame)
  }
}

function* eventIn(frame: string): Generator<StreamEvent> {
  const data = frame
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trim())
    .join("")
  if (data === "") return
  const event: unknown = JSON.parse(data)
  const type = textOf(event, "type")
  if (isObject(event) && type !== undefined) yield { ...event, type }
}
