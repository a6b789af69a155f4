import type { IncomingHttpHeaders } from "node:http"
import { Waker } from "@signalbox/transport/pacing"
import type { Position } from "../scenario/calls.ts"
import { SimulatorError } from "../simulator-error.ts"
import type { MessagesRequest, SideKind } from "./request.ts"

/** A request for a message, for a test to look at. `headers` holds no secret. */
export interface RecordedRequest
  extends Pick<MessagesRequest, "sessionId" | "agentId" | "model" | "stream" | "maxTokens" | "system" | "messages"> {
  method: string
  path: string
  headers: Record<string, string>
  /** The kind of call it was taken for. */
  kind: "conversation" | "side" | "ended" | "count"
  side?: SideKind
  /** The call of the scenario that answered it. */
  position?: Position
  tools: string[]
}

export interface ApiProblem {
  kind: "unexpected-path" | "script-ended" | "bad-request" | "body-too-large" | "internal"
  message: string
  method: string
  path: string
}

const SECRET_NAME = /auth|cookie|key|token|secret|password/i

/** Keeps what happened, and forgets the oldest first: every request of a long conversation carries all of it. */
export class Recording {
  readonly requests: RecordedRequest[] = []
  readonly errors: ApiProblem[] = []
  readonly #sizes: number[] = []
  readonly #limits: { maxRequests: number; maxBytes: number }
  readonly #changes = new Waker()
  #bytes = 0
  #closed = false

  constructor(limits: { maxRequests: number; maxBytes: number }) {
    this.#limits = limits
  }

  add(request: RecordedRequest, bytes: number): void {
    this.requests.push(request)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    const { maxRequests, maxBytes } = this.#limits
    while (this.requests.length > 1 && (this.requests.length > maxRequests || this.#bytes > maxBytes)) {
      this.requests.shift()
      this.#bytes -= this.#sizes.shift() ?? 0
    }
    this.#changes.wake()
  }

  addError(problem: ApiProblem): void {
    this.errors.push(problem)
    if (this.errors.length > this.#limits.maxRequests) this.errors.shift()
  }

  /** The first request, past or to come, that is accepted. */
  async until(accepts: (request: RecordedRequest) => boolean): Promise<RecordedRequest> {
    for (;;) {
      if (this.#closed) {
        throw new SimulatorError("messages-api/closed", "The scripted API was closed before such a request came.")
      }
      const found = this.requests.find(accepts)
      if (found !== undefined) return found
      await this.#changes.wait()
    }
  }

  close(): void {
    this.#closed = true
    this.#changes.wake()
  }
}

/** The fields that every kind of request has. */
export function recordOf(
  request: MessagesRequest,
  http: { method: string; path: string; headers: IncomingHttpHeaders },
): Omit<RecordedRequest, "kind"> {
  const { sessionId, agentId, model, stream, maxTokens, system, messages } = request
  const tools = request.tools.map(({ name }) => name)
  const headers = withoutSecrets(http.headers)
  return { ...http, headers, sessionId, agentId, model, stream, maxTokens, system, tools, messages }
}

/** The names stay, so that a test can see which credential a CLI would have sent. */
function withoutSecrets(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (SECRET_NAME.test(name)) return [name, "<redacted>"]
      return [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]
    }),
  )
}
