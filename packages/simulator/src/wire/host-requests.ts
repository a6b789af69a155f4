import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { AgentBasics } from "./wire.ts"

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
  readonly #agent: Pick<AgentBasics, "clock" | "random" | "wire">
  #closed = false

  constructor(agent: Pick<AgentBasics, "clock" | "random" | "wire">) {
    this.#agent = agent
  }

  /** An abort or a time-out tells the host that the answer is no longer wanted. */
  ask(request: Fields, options: AskOptions = {}): Promise<HostAnswer> {
    if (this.#closed) return Promise.resolve({ kind: "gone" })
    if (options.signal?.aborted === true) return Promise.resolve({ kind: "aborted" })
    const { clock, random, wire } = this.#agent
    const requestId = random.uuid()
    const message = { type: "control_request", request_id: requestId, request }
    return new Promise((resolve) => {
      const withdraw = (kind: "aborted" | "timed-out") => () => {
        wire.emit({ type: "control_cancel_request", request_id: requestId })
        settle({ kind })
      }
      const abort = withdraw("aborted")
      const { timeoutMs } = options
      const cancelTimer = timeoutMs === undefined ? undefined : clock.timeout(timeoutMs, withdraw("timed-out"))
      const settle = (answer: HostAnswer) => {
        if (!this.#pending.delete(requestId)) return
        cancelTimer?.()
        options.signal?.removeEventListener("abort", abort)
        resolve(answer)
      }
      this.#pending.set(requestId, { request: message, settle })
      options.signal?.addEventListener("abort", abort, { once: true })
      wire.emit(message)
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
