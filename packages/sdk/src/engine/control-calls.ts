import { quiet, startDeadline, within } from "../base/deadline.ts"
import { queryClosed, SdkError } from "../base/errors.ts"
import { type Answer, composeRequest, createPendingRequests, fieldOf, payloadOf, textOf } from "../base/wire.ts"
import type { ControlRequestBody } from "../types/options.ts"
import { READY_TIMEOUT_MS } from "./patience.ts"

export interface ControlCallsOptions {
  /** `onWriting` is called when the line is on its way, if only the agent can hold it up from then on. */
  readonly send: (message: { readonly type: string }, onWriting: () => void) => Promise<void>
  readonly controlTimeoutMs: number | undefined
  /** A call has begun, or has got its answer. */
  readonly onChange: () => void
}

export interface ExchangeOptions {
  readonly onAnswer?: (answer: Answer) => void
  /** It is the first request: how long an agent takes to start is not for a limit of requests to say. */
  readonly isGreeting?: boolean
}

/** How long the reason for a dead input is waited for. */
const REASON_MS = 500

/** Our requests to the agent. Every one settles: by its answer, or by the end of the query. */
export class ControlCalls {
  readonly #options: ControlCallsOptions
  readonly #pending = createPendingRequests<Answer>()
  readonly #onAnswer = new Map<string, (answer: Answer) => void>()
  readonly #limits = new Map<string, CallLimit>()
  /** Extra time for an agent that has not said a word yet. */
  #startingMs = READY_TIMEOUT_MS
  #version: string | undefined
  #inFlight = 0
  #failure: Error | undefined

  constructor(options: ControlCallsOptions) {
    this.#options = options
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
    this.#options.onChange()
    try {
      return await answer
    } finally {
      this.#inFlight--
      this.#options.onChange()
    }
  }

  /**
   * Resolves with the answer whatever it says, and holds nothing up meanwhile. `onAnswer` is called as soon as its line is
   * read, before the line after it is. The answer has to come in time, unless the agent is only just starting.
   */
  async exchange(request: ControlRequestBody, { onAnswer, isGreeting }: ExchangeOptions = {}): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure
    const requestId = Math.random().toString(36).slice(2, 13)
    const controlTimeoutMs = isGreeting === true ? 0 : this.#options.controlTimeoutMs
    const limit = new CallLimit({ subtype: request.subtype, controlTimeoutMs, version: () => this.#version })
    if (onAnswer !== undefined) this.#onAnswer.set(requestId, onAnswer)
    this.#limits.set(requestId, limit)
    try {
      // It is awaited below, but may be rejected while the line is still being sent.
      const answer = quiet(this.#pending.wait(requestId, { signal: limit.signal }))
      await Promise.race([this.#sendOrLearnWhy(composeRequest(requestId, request), answer, limit), answer])
      limit.start(this.#startingMs)
      return await answer
    } catch (error) {
      if (limit.signal.aborted) throw limit.signal.reason
      // Whether the line could not be sent or the answer will not come: the query is over, and may have said why.
      throw this.#failure ?? queryClosed(error)
    } finally {
      limit.stop()
      this.#limits.delete(requestId)
      this.#onAnswer.delete(requestId)
    }
  }

  /** The agent has said something: it has started, and requests that were made before have their time from now on. */
  heard(): void {
    if (this.#startingMs === 0) return
    this.#startingMs = 0
    for (const limit of this.#limits.values()) limit.extend(0)
  }

  /** Takes a line in which the agent says which version it is, or that it is at work on a request. */
  note(message: Readonly<Record<string, unknown>>): void {
    if (message["subtype"] === "init") this.#version = textOf(message, "claude_code_version") ?? this.#version
    if (message["subtype"] !== "control_request_progress") return
    const delayMs = message["retry_delay_ms"]
    this.#limits.get(textOf(message, "request_id") ?? "")?.extend(typeof delayMs === "number" ? delayMs : 0)
  }

  /** An agent that dies is noticed at its input first: why it died is known a moment later, and is what the caller is told. */
  async #sendOrLearnWhy(message: { readonly type: string }, answer: Promise<unknown>, limit: CallLimit): Promise<void> {
    try {
      await this.#options.send(message, () => limit.start(this.#startingMs))
    } catch (error) {
      await within(
        REASON_MS,
        answer.catch(() => undefined),
        () => undefined,
      )
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

/** How long the agent has for its answer, unless the program says otherwise. */
const CONTROL_TIMEOUT_MS = 60_000

/** The agent asks a model, a person or another program before it answers these. */
const SLOW: ReadonlySet<string> = new Set([
  "claim_session",
  "generate_session_title",
  "mcp_call",
  "mcp_message",
  "mcp_read_resource",
  "mcp_reconnect",
  "mcp_set_servers",
  "reload_plugins",
  "side_question",
])
const SLOW_FACTOR = 10

export interface CallLimitOptions {
  readonly subtype: string
  /** The program's `controlTimeoutMs`. */
  readonly controlTimeoutMs: number | undefined
  /** The CLI's version, once it has been heard. */
  readonly version: () => string | undefined
}

/** The time that one request of ours has. It is counted from `start` on, and anew from every sign that it is dealt with. */
export class CallLimit {
  readonly #options: CallLimitOptions
  readonly #over = new AbortController()
  readonly #ms: number
  #callOff: (() => void) | undefined

  constructor(options: CallLimitOptions) {
    this.#options = options
    const ms = options.controlTimeoutMs ?? CONTROL_TIMEOUT_MS
    // 0 is no limit, as in the official package.
    this.#ms = ms === 0 ? Number.POSITIVE_INFINITY : ms * (SLOW.has(options.subtype) ? SLOW_FACTOR : 1)
  }

  /** Aborts when it is over; the reason is what the caller is told. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** By so much more than the limit itself: for an agent that may still be starting. */
  start(moreMs: number): void {
    if (this.#callOff === undefined) this.#count(moreMs)
  }

  /** Counts anew, if it counts. By so much more: the agent has said for how long it will not try again. */
  extend(moreMs: number): void {
    if (this.#callOff !== undefined) this.#count(moreMs)
  }

  #count(moreMs: number): void {
    this.#callOff?.()
    this.#callOff = startDeadline(this.#ms + moreMs, () => this.#over.abort(this.#failure()))
  }

  stop(): void {
    this.#callOff?.()
  }

  #failure(): SdkError {
    const { subtype } = this.#options
    const version = this.#options.version()
    const who = version === undefined ? "The agent" : `Claude Code ${version}`
    const message = `${who} did not answer the request ${subtype} within ${this.#ms} ms. An old version says nothing to a request that it does not know: update it, or give options.controlTimeoutMs if it needs longer (0: no limit).`
    const details = { subtype, timeoutMs: this.#ms, ...(version === undefined ? {} : { version }) }
    return new SdkError("request/timeout", message, { details })
  }
}
