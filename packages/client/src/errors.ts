import type { ApiErrorCode } from "@signalbox/protocol/hub-api"

/** Errors on our side. A refusal of the hub comes with the hub's own code. */
export type LocalErrorCode =
  /** The client was closed. */
  | "client/closed"
  /** The hub could not be reached. */
  | "client/unreachable"
  /** It did not answer in time. */
  | "client/timeout"
  /** The caller's signal ended it. */
  | "client/aborted"
  /** The address or the token cannot be used. */
  | "client/misconfigured"
  /** It answered with something that is no answer. */
  | "client/bad-reply"
  /** The hub's version does not know this call. */
  | "client/too-old"
  /** The hub closed the connection for good. */
  | "client/refused"
  /** More is waiting to be read than the bound allows. */
  | "client/overflow"
  /** A direct connection knows no such open question. */
  | "client/unknown-question"

export interface HubClientErrorOptions {
  readonly status?: number | undefined
  readonly cause?: unknown
  readonly details?: Readonly<Record<string, unknown>>
}

export class HubClientError extends Error {
  override readonly name = "HubClientError"
  /** One of ours, or the hub's: `ask/settled`, `session/no-agent` and so on. */
  readonly code: string
  /** The HTTP status of the hub's reply, where it was one. */
  readonly status: number | undefined
  /** The other fields of the hub's error reply: the ask that was settled, the session that follows. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: LocalErrorCode | ApiErrorCode | (string & {}),
    message: string,
    options: HubClientErrorOptions = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {})
    this.code = code
    this.status = options.status
    this.details = options.details ?? {}
  }
}

export function closedError(): HubClientError {
  return new HubClientError("client/closed", "the client was closed; connect again with connectHub()")
}

export function abortedError(signal: AbortSignal | undefined): HubClientError {
  return new HubClientError("client/aborted", "the caller's signal ended it", { cause: signal?.reason })
}
