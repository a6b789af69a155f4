import type { RunnerRefusal } from "@signalbox/protocol/runner-wire"

/** Everything a runner refuses or fails at. Callers tell failures apart by `code`, never by text. */
export type RunnerErrorCode =
  | RunnerRefusal
  /** Another runner works in this state directory. */
  | "runner/locked"
  /** What an earlier runner wrote down cannot be read. */
  | "runner/bad-state"

export class RunnerError<C extends RunnerErrorCode = RunnerErrorCode> extends Error {
  override readonly name = "RunnerError"
  readonly code: C
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: C,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {})
    this.code = code
    this.details = options.details ?? {}
  }
}

/** What a request of the hub is refused with. */
export class Refusal extends RunnerError<RunnerRefusal> {}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a failed system call: `ENOENT` and so on. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined
  return typeof error.code === "string" ? error.code : undefined
}
