import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { AgentClock } from "../clock.ts"
import type { Fields } from "../profiles/profile.ts"
import type { Randomness } from "../randomness.ts"

/** How a question to the host ended. */
export type HostAnswer =
  | { kind: "success"; payload: unknown }
  | { kind: "error"; error: string }
  /** An answer of neither kind. */
  | { kind: "malformed" }
  /** We took the question back. */
  | { kind: "aborted" }
  | { kind: "timed-out" }
  /** The host ended its input while it was asked, so no answer can come. */
  | { kind: "closed" }
  /** It had ended its input before. */
  | { kind: "gone" }

interface Pending {
  readonly request: Fields
  readonly settle: (answer: HostAnswer) => void
}

export interface AskOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** The questions an agent has put to its host. */
export class HostRequests {
  readonly #pending = new Map<string, Pending>()
  readonly #clock: AgentClock
  readonly #random: Randomness
  readonly #emit: (message: Fields) => void
  #closed = false

  constructor(options: { clock: AgentClock; random: Randomness; emit: (message: Fields) => void }) {
    this.#clock = options.clock
    this.#random = options.random
    this.#emit = options.emit
  }

  /** An abort or a time-out tells the host that the answer is no longer wanted. */
  ask(request: Fields, options: AskOptions = {}): Promise<HostAnswer> {
    if (this.#closed) return Promise.resolve({ kind: "gone" })
    if (options.signal?.aborted === true) return Promise.resolve({ kind: "aborted" })
    const requestId = this.#random.uuid()
    const message = { type: "control_request", request_id: requestId, request }
    return new Promise((resolve) => {
      const withdraw = (kind: "aborted" | "timed-out") => () => {
        this.#emit({ type: "control_cancel_request", request_id: requestId })
        settle({ kind })
      }
      const abort = withdraw("aborted")
      const cancelTimer =
        options.timeoutMs === undefined
          ? () => undefined
          : this.#clock.timeout(options.timeoutMs, withdraw("timed-out"))
      const settle = (answer: HostAnswer) => {
        if (!this.#pending.delete(requestId)) return
        cancelTimer()
        options.signal?.removeEventListener("abort", abort)
        resolve(answer)
      }
      this.#pending.set(requestId, { request: message, settle })
      options.signal?.addEventListener("abort", abort, { once: true })
      this.#emit(message)
    })
  }

  /** Takes a `control_response`'s inner object. False when nobody asked. */
  answer(response: Readonly<Fields>): boolean {
    const pending = this.#pending.get(textOf(response, "request_id") ?? "")
    if (pending === undefined) return false
    pending.settle(readAnswer(response))
    return true
  }

  /** Complete permission requests, as an `initialize` reply lists them. */
  openPermissions(): Fields[] {
    return [...this.#pending.values()]
      .map(({ request }) => request)
      .filter((request) => fieldOf(request, "request")?.["subtype"] === "can_use_tool")
  }

  /** No more answers come. */
  close(): void {
    this.#closed = true
    for (const pending of Array.from(this.#pending.values())) pending.settle({ kind: "closed" })
  }
}

function readAnswer(response: Readonly<Fields>): HostAnswer {
  if (response["subtype"] === "success") return { kind: "success", payload: response["response"] }
  if (response["subtype"] === "error") return { kind: "error", error: textOf(response, "error") ?? "" }
  return { kind: "malformed" }
}
