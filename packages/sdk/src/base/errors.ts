import { CodedError } from "@signalbox/protocol/envelope"

/** Every way in which a query, a call or an option can fail. Programs tell failures apart by `code`, never by text. */
export type SdkErrorCode =
  /** An option that cannot be used, or not together with another. */
  | "sdk/bad-option"
  /** The agent cannot do what an option asks for. */
  | "sdk/unsupported"
  /** A warm query that was used already, or closed. */
  | "sdk/used"
  /** No executable where one was looked for. */
  | "process/not-found"
  /** There is one, and it could not be started. */
  | "process/spawn-failed"
  | "process/exit"
  | "process/signal"
  /** A process of another maker failed without an exit. */
  | "process/broken"
  /** The agent failed and its last result says why. */
  | "result/error"
  /** The query is over, or ended before the answer came. */
  | "query/closed"
  | "query/aborted"
  /** The program's own prompt threw; its error is the `cause`. */
  | "query/prompt-failed"
  /** The agent answered a request with an error. */
  | "request/refused"
  /** The agent did not answer a request within `controlTimeoutMs`. */
  | "request/timeout"
  /** The agent did not get ready in time. */
  | "startup/timeout"
  /** A session store failed, or took too long, when the session was to be resumed from it; its error is the `cause`. */
  | "store/failed"
  | "store/timeout"
  /** A process that was started ahead cannot become the session. */
  | "spare/closed"
  | "spare/refused"
  | HubFailureCode

/** Failures of a query on a hub's agent. The first six are the hub's own words. */
export type HubFailureCode =
  /** The token is none that the hub knows. */
  | "auth/required"
  /** Its role may not do this. */
  | "auth/forbidden"
  | "session/unknown"
  /** The session's agent takes no more messages for now. */
  | "session/queue-full"
  /** There is no machine to start an agent on. */
  | "runner/none"
  | "runner/unknown"
  /** The session is over: its agent ended. */
  | "hub/session-ended"
  /** The cursor is not of this session's history. */
  | "hub/gap"
  /** The agent's process died with a message that it had not confirmed. */
  | "hub/message-unknown"
  /** The agent's process died in the middle of a turn, or did not come back to it. */
  | "hub/agent-lost"
  /** No hub answers, or it did not come back in time. */
  | "hub/unreachable"
  /** The hub refused for another reason: `details.code` is its word for it. */
  | "hub/refused"

export interface SdkErrorOptions {
  readonly cause?: unknown
  readonly details?: Readonly<Record<string, unknown>>
  /** The name of the official package's error of this kind. */
  readonly name?: string
}

export class SdkError extends CodedError<SdkErrorCode> {
  constructor(code: SdkErrorCode, message: string, options: SdkErrorOptions = {}) {
    super(code, message, options)
    // Programs written for the official package may have looked at `name`, and there it is almost always "Error".
    this.name = options.name ?? "Error"
  }
}

/** The query was aborted through its `abortController`. A class of its own, as in the official package. */
export class AbortError extends Error {
  readonly code: SdkErrorCode = "query/aborted"
}

/** Before anything was started. */
export function aborted(cause?: unknown): AbortError {
  return new AbortError("Operation aborted", cause === undefined ? {} : { cause })
}

/** With an agent at work. */
export function abortedAtWork(cause?: unknown): AbortError {
  return new AbortError("Claude Code process aborted by user", cause === undefined ? {} : { cause })
}

export function queryClosed(cause?: unknown): SdkError {
  return new SdkError("query/closed", "Query closed before response received", cause === undefined ? {} : { cause })
}

/** Every way in which a function on stored sessions refuses. Reading what is not there is no error: it gives nothing. */
export type SessionErrorCode =
  | "session/bad-id"
  | "session/not-found"
  /** A message named by the caller is not in the session. */
  | "session/no-such-message"
  /** Nothing in the session can be forked. */
  | "session/empty"
  /** A title or a tag without a visible character. */
  | "session/bad-text"
  /** The operation has no place in a session store, or this store has no method for it. */
  | "session/unsupported"

export class SessionError extends CodedError<SessionErrorCode> {}
