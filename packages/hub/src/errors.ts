import type { RunnerRefusal } from "@signalbox/protocol/runner-wire"

/** What can go wrong for a caller. Codes are stable and part of the public interface; messages are prose. */
export type HubErrorCode =
  | "request/invalid"
  | "request/too-large"
  | "route/unknown"
  | "route/method"
  | "auth/required"
  | "auth/forbidden"
  | "auth/throttled"
  | "auth/origin"
  | "auth/host"
  | "session/unknown"
  | "session/no-agent"
  | "session/live"
  | "session/rotated"
  | "session/queue-full"
  | "message/unknown"
  | "message/conflict"
  | "control/refused"
  | "control/timeout"
  | "ask/unknown"
  | "ask/settled"
  | "ask/changed"
  | "ask/invalid-answer"
  | "ask/not-extendable"
  | "grant/unknown"
  | "token/unknown"
  | "token/last-admin"
  | "policy/invalid"
  | "runner/none"
  | "runner/unknown"
  | "runner/away"
  | "runner/connected"
  | "runner/draining"
  | "runner/no-answer"
  | RunnerRefusal
  | "run/unknown"
  | "store/full"
  | "store/failed"
  | "hub/stopping"
  | "hub/busy"
  | "hub/internal"
  | "start/invalid-option"
  | "start/exposed"
  | "start/port-taken"
  | "start/data-directory"
  | "start/locked"
  | "start/damaged"

const STATUS: Readonly<Record<HubErrorCode, number>> = {
  "request/invalid": 400,
  "request/too-large": 413,
  "route/unknown": 404,
  "route/method": 405,
  "auth/required": 401,
  "auth/forbidden": 403,
  "auth/throttled": 429,
  "auth/origin": 403,
  "auth/host": 403,
  "session/unknown": 404,
  "session/no-agent": 409,
  "session/live": 409,
  "session/rotated": 409,
  "session/queue-full": 429,
  "message/unknown": 404,
  "message/conflict": 409,
  "control/refused": 502,
  "control/timeout": 504,
  "ask/unknown": 404,
  "ask/settled": 409,
  "ask/changed": 409,
  "ask/invalid-answer": 400,
  "ask/not-extendable": 409,
  "grant/unknown": 404,
  "token/unknown": 404,
  "token/last-admin": 409,
  "policy/invalid": 400,
  "runner/none": 409,
  "runner/unknown": 404,
  "runner/away": 409,
  "runner/connected": 409,
  "runner/draining": 409,
  "runner/no-answer": 504,
  // As runners say them.
  "runner/no-claude": 409,
  "runner/session-in-use": 409,
  "runner/full": 409,
  "runner/worktree": 409,
  "runner/no-folder": 422,
  "runner/no-transcript": 422,
  "runner/spawn-failed": 422,
  "runner/unknown-agent": 422,
  "runner/invalid": 422,
  "run/unknown": 404,
  "store/full": 507,
  "store/failed": 503,
  "hub/stopping": 503,
  "hub/busy": 503,
  "hub/internal": 500,
  // Told to whoever starts a hub, never over HTTP.
  "start/invalid-option": 500,
  "start/exposed": 500,
  "start/port-taken": 500,
  "start/data-directory": 500,
  "start/locked": 500,
  "start/damaged": 500,
}

export class HubError extends Error {
  override readonly name = "HubError"
  readonly code: HubErrorCode
  readonly status: number
  /** Goes into the reply's body beside `error`: the ask that was settled, the session that follows. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: HubErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.status = STATUS[code]
    this.details = options.details ?? {}
  }
}

/** What went wrong, in its own words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A refusal of a runner's. One that this hub does not know, of a newer runner, is told in its words. */
export function runnerRefused(code: string, message: string): HubError {
  return new HubError(isRunnerRefusal(code) ? code : "runner/invalid", message)
}

function isRunnerRefusal(code: string): code is RunnerRefusal {
  return code.startsWith("runner/") && Object.hasOwn(STATUS, code)
}

export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error
  return new HubError("hub/internal", "the hub failed at this", { cause: error })
}
