import { CodedError } from "@signalbox/protocol/envelope"

/** Every way in which a connection, or one line on it, can fail. Callers tell failures apart by `code`, never by text. */
export type TransportErrorCode =
  /** A line was sent on a connection that is over. */
  | "transport/closed"
  /** A line that cannot be one: blank, or with a newline in it. */
  | "transport/bad-line"
  /** The peer could not be reached, or broke off, for good. */
  | "transport/unreachable"
  /** The peer refused us: a bad token, an unknown session, a permanent close code. */
  | "transport/refused"
  /** The URL, a header or the token's file descriptor that it was given to connect with cannot be used. */
  | "transport/misconfigured"
  /** The connection broke in the middle. */
  | "transport/broken"
  /** More is waiting to be sent than the bound allows. */
  | "transport/overflow"
  /** No executable was found. */
  | "process/not-found"
  /** The executable could not be started. */
  | "process/spawn-failed"
  /** The process ended by itself with a code other than 0. */
  | "process/exit"
  /** The process was ended by a signal. */
  | "process/signal"

export class TransportError extends CodedError<TransportErrorCode> {
  override readonly name = "TransportError"
}

/** The code of a failed system call: `ENOENT` and so on. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Calls an owner's callback so that its failure stays its own: it runs in the events of streams, sockets and timers, where
 * a throw ends the process or leaves a connection half moved. Every `on…` option goes through here once, where the options
 * are settled.
 */
export function quietly<T>(callback: ((value: T) => unknown) | undefined): (value: T) => void {
  return (value) => {
    try {
      const result = callback?.(value)
      if (result instanceof Promise) result.catch(() => undefined)
    } catch {
      // Nobody is left to tell.
    }
  }
}
