import { composeError, composeSuccess, type Envelope, fieldOf, textOf } from "../base/wire.ts"

/** One request of the agent, as it came. */
export interface AgentRequest {
  readonly id: string
  readonly body: Readonly<Record<string, unknown>>
  /** Aborts when the agent takes the request back, and when the query ends. */
  readonly signal: AbortSignal
}

/** The outcome of a request: an answer, or silence because somebody else will give it. A throw is an error answer. */
export type Reply = { readonly kind: "answer"; readonly payload: unknown } | { readonly kind: "silence" }
export type Responder = (request: AgentRequest) => Promise<Reply>

export function answer(payload: unknown): Reply {
  return { kind: "answer", payload }
}
export const SILENCE: Reply = { kind: "silence" }

export interface AgentRequestsOptions {
  readonly responders: Readonly<Record<string, Responder>>
  readonly send: (message: Envelope) => Promise<void>
  /** A request has come, or has been dealt with. */
  readonly onChange: () => void
}

/** The agent's requests to us. Each is answered once, unless it is taken back first. */
export class AgentRequests {
  readonly #options: AgentRequestsOptions
  readonly #open = new Map<string, AbortController>()
  #isClosed = false

  constructor(options: AgentRequestsOptions) {
    this.#options = options
  }

  get inFlight(): number {
    return this.#open.size
  }

  /** Takes a `control_request` line. A second delivery of one that is being dealt with is dropped. */
  take(message: Readonly<Record<string, unknown>>): void {
    const id = textOf(message, "request_id")
    if (id === undefined || this.#open.has(id) || this.#isClosed) return
    const controller = new AbortController()
    this.#open.set(id, controller)
    this.#options.onChange()
    void this.#deal({ id, body: fieldOf(message, "request") ?? {}, signal: controller.signal })
  }

  /** The agent no longer wants the answer: it gets none, so that an old CLI does not take it for a fresh one. */
  cancel(message: Readonly<Record<string, unknown>>): void {
    const id = textOf(message, "request_id")
    if (id === undefined) return
    const controller = this.#open.get(id)
    this.#open.delete(id)
    controller?.abort()
    if (controller !== undefined) this.#options.onChange()
  }

  close(): void {
    this.#isClosed = true
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const controller of open) controller.abort()
  }

  async #deal(request: AgentRequest): Promise<void> {
    const message = await this.#respond(request)
    if (request.signal.aborted || this.#open.get(request.id)?.signal !== request.signal) return
    try {
      if (message !== undefined) await this.#options.send(message)
    } catch {
      // The agent is gone, or reads no more: it needs no answer.
    }
    this.#open.delete(request.id)
    this.#options.onChange()
  }

  async #respond(request: AgentRequest): Promise<Envelope | undefined> {
    const subtype = textOf(request.body, "subtype") ?? ""
    const responder = Object.hasOwn(this.#options.responders, subtype) ? this.#options.responders[subtype] : undefined
    if (responder === undefined) {
      return composeError(
        request.id,
        `Unsupported control request subtype: ${String(request.body["subtype"])}`,
        "unsupported_request",
      )
    }
    try {
      const reply = await responder(request)
      return reply.kind === "silence" ? undefined : encodable(composeSuccess(request.id, reply.payload))
    } catch (error) {
      return composeError(request.id, error instanceof Error ? error.message : String(error))
    }
  }
}

/** A callback may return anything; what has no JSON form is its mistake, and the agent is told so. */
function encodable(message: Envelope): Envelope {
  JSON.stringify(message)
  return message
}
