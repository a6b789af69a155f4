import { replaceUnseen, unseenNumber } from "@signalbox/protocol/unseen"

/** Exit codes of the command: 0 done, 1 failed, 2 wrong usage, 3 no hub reachable, 4 not allowed. */
export type ExitCode = 0 | 1 | 2 | 3 | 4

export type CliErrorCode =
  /** An option or argument is wrong. */
  | "cli/usage"
  /** No hub is running or configured. */
  | "cli/no-hub"
  /** The token does not allow it, or is missing. */
  | "cli/not-allowed"
  | "cli/failed"

const EXIT_CODES: Readonly<Record<CliErrorCode, ExitCode>> = {
  "cli/usage": 2,
  "cli/no-hub": 3,
  "cli/not-allowed": 4,
  "cli/failed": 1,
}

interface CliErrorOptions {
  readonly cause?: unknown
  /** The command that lists the possible values, without its `signalbox`. */
  readonly list?: string
}

/** A failure of the command. The message is one line: what happened, then what to do. */
export class CliError extends Error {
  override readonly name = "CliError"
  readonly code: CliErrorCode
  /** The event and the list, apart: the command for the list depends on the hub. */
  readonly what: string
  readonly list: string | undefined

  constructor(code: CliErrorCode, what: string, { list, ...options }: CliErrorOptions = {}) {
    super(list === undefined ? what : `${what}: see "signalbox ${list}"`, options)
    this.code = code
    this.what = what
    this.list = list
  }
}

export function usageError(message: string): CliError {
  return new CliError("cli/usage", message)
}

/** Errors of other rooms are told apart by their code, so that no room must be loaded for it. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return EXIT_CODES[error.code]
  if (typeof error !== "object" || error === null || !("code" in error)) return 1
  const { code } = error
  if (typeof code !== "string") return 1
  if (/^(?:client|hub)\/(?:unreachable|timeout)$/.test(code)) return 3
  if (code === "start/invalid-option" || code === "client/misconfigured") return 2
  // Also by a rule, such as four eyes.
  const isForbidden = code.startsWith("auth/") || ("status" in error && error.status === 403)
  return isForbidden ? 4 : 1
}

/** The message of an error, on one line. Names and words of others may be in it, and must not steer somebody's terminal. */
export function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const line = message.replace(/\s*\n\s*/g, " ").trim()
  return replaceUnseen(line, "prose", (character) => `<${unseenNumber(character)}>`)
}

/** The innermost reason that an error names: "connect ECONNREFUSED 127.0.0.1:1", not "fetch failed". */
export function causeOf(error: unknown): string {
  let at = error
  // Bounded, in case a chain of causes is a circle.
  for (let depth = 0; depth < 10 && at instanceof Error && at.cause instanceof Error; depth++) at = at.cause
  const first: unknown = at instanceof AggregateError ? at.errors[0] : at
  return oneLine(first ?? at)
}
