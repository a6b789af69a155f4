import { queryClosed, SdkError } from "../errors.ts"
import type { ControlRequestBody } from "../types/options.ts"
import { composeRequest, createPendingRequests, fieldOf, textOf } from "../wire.ts"

/** The inner part of a `control_response`, as it came. */
export type Answer = Readonly<Record<string, unknown>>

export interface ControlCallsOptions {
  readonly send: (message: { readonly type: string }) => Promise<void>
  /** A call has begun, or has got its answer. */
  readonly onChange: () => void
}

/** How long the reason for a dead input is waited for. */
const REASON_MS = 500

/** Our requests to the agent. Every one settles: by its answer, or by the end of the query. */
export class ControlCalls {
  readonly #send: ControlCallsOptions["send"]
  readonly #onChange: () => void
  readonly #pending = createPendingRequests<Answer>()
  readonly #onAnswer = new Map<string, (answer: Answer) => void>()
  #inFlight = 0
  #failure: Error | undefined

  constructor(options: ControlCallsOptions) {
    this.#send = options.send
    this.#onChange = options.onChange
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Resolves with the agent's payload; rejects with `request/refused` if it answers with an error. */
  async call(request: ControlRequestBody): Promise<unknown> {
    return payloadOf(await this.awaited(this.exchange(request)), request.subtype)
  }

  /** Somebody waits for this: the agent is read on until it is there, and its input stays open. */
  async awaited<T>(answer: Promise<T>): Promise<T> {
    this.#inFlight++
    this.#onChange()
    try {
      return await answer
    } finally {
      this.#inFlight--
      this.#onChange()
    }
  }

  /**
   * Resolves with the answer whatever it says, and holds nothing up meanwhile. `onAnswer` is called as soon as its line is
   * read, before the line after it is.
   */
  async exchange(request: ControlRequestBody, onAnswer?: (answer: Answer) => void): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure
    const requestId = newRequestId()
    if (onAnswer !== undefined) this.#onAnswer.set(requestId, onAnswer)
    try {
      const answer = this.#pending.wait(requestId)
      // It is awaited below, but may be rejected while the line is still being sent.
      answer.catch(() => undefined)
      await this.#sendOrLearnWhy(composeRequest(requestId, request), answer)
      return await answer
    } catch (error) {
      // Whether the line could not be sent or the answer will not come: the query is over, and may have said why.
      throw this.#failure ?? queryClosed(error)
    } finally {
      this.#onAnswer.delete(requestId)
    }
  }

  /** An agent that dies is noticed at its input first: why it died is known a moment later, and is what the caller is told. */
  async #sendOrLearnWhy(message: { readonly type: string }, answer: Promise<unknown>): Promise<void> {
    try {
      await this.#send(message)
    } catch (error) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, REASON_MS)
      })
      await Promise.race([answer.catch(() => undefined), patience])
      clearTimeout(timer)
      throw error
    }
  }

  /** Takes a `control_response` line. One that answers nothing of ours changes nothing. */
  take(message: Readonly<Record<string, unknown>>): void {
    const response = fieldOf(message, "response")
    const requestId = textOf(response, "request_id")
    if (response === undefined || requestId === undefined) return
    this.#onAnswer.get(requestId)?.(response)
    this.#onAnswer.delete(requestId)
    this.#pending.answer(requestId, response)
  }

  /** No more answers come. */
  close(failure: Error): void {
    this.#failure ??= failure
    this.#pending.close("the query is over", failure)
  }
}

export function payloadOf(answer: Answer, subtype: string): unknown {
  if (answer["subtype"] !== "error") return answer["response"]
  const message = textOf(answer, "error") ?? `${subtype} was refused`
  const errorCode = textOf(answer, "error_code")
  const details = { subtype, ...(errorCode === undefined ? {} : { errorCode }) }
  throw new SdkError("request/refused", message, { details })
}

function newRequestId(): string {
  return Math.random().toString(36).slice(2, 13)
}
