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
  /** An option of the official package that is not there yet. */
  | "session/not-yet"

export class SessionError extends Error {
  readonly code: SessionErrorCode

  constructor(code: SessionErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
