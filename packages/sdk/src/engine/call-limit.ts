import { startDeadline } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"

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
