/** Local errors of this room. What a peer reports over the wire is data, never one of these. */
export type ProtocolErrorCode =
  | "request/timeout"
  | "request/aborted"
  | "request/closed"
  | "request/duplicate"
  | "write/not-encodable"
  | "write/not-accepted"

export class ProtocolError extends Error {
  override readonly name = "ProtocolError"
  readonly code: ProtocolErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ProtocolErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {})
    this.code = code
    this.details = options.details ?? {}
  }
}
