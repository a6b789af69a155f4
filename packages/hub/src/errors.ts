import { isObject, textOf } from "@signalbox/protocol"
import { API_ERRORS, type ApiErrorCode } from "@signalbox/protocol/hub-api"
import type { RunnerRefusal } from "@signalbox/protocol/runner-wire"

/** A reason that keeps a hub from starting: told to the one who starts it, never over HTTP. */
type StartErrorCode =
  `start/${"invalid-option" | "exposed" | "port-taken" | "data-directory" | "locked" | "damaged" | "store"}`

/** Reasons why a database is not backed up, restored or salvaged: told to whoever runs the command. */
type DataErrorCode =
  `data/${"missing" | "taken" | "full" | "unwritable" | "newer" | "damaged" | "no-backup" | "failed"}`

export type HubErrorCode = ApiErrorCode | StartErrorCode | DataErrorCode

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
    this.status = isApiError(code) ? API_ERRORS[code] : 500
    this.details = options.details ?? {}
  }
}

const NAMES = { session: "Session", ask: "Request", grant: "Permission", runner: "Runner", run: "Run" } as const

export function unknown(kind: keyof typeof NAMES, id: string, hint = ""): HubError {
  return new HubError(`${kind}/unknown`, `${NAMES[kind]} ${id} not found.${hint}`)
}

/** The failure, in its own words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A refusal of a runner's. One that this hub does not know, of a newer runner, is told in its words. */
export function runnerRefused(code: string, message: string): HubError {
  return new HubError(isRunnerRefusal(code) ? code : "runner/invalid", message)
}

/** A refusal as another hub told it. */
export function refusalIn(told: unknown): HubError | undefined {
  if (!isObject(told)) return undefined
  const { error, ...details } = told
  const [code, message] = [textOf(error, "code"), textOf(error, "message")]
  const isOne = code !== undefined && message !== undefined && isApiError(code)
  return isOne ? new HubError(code, message, { details }) : undefined
}

function isRunnerRefusal(code: string): code is RunnerRefusal {
  return (code.startsWith("runner/") || code === "policy/cannot-enforce") && isApiError(code)
}

function isApiError(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code)
}

/** Undefined for a session that another hub has. */
export function unlessMoved(error: unknown): undefined {
  if (!(error instanceof HubError && error.code === "hub/moved")) throw error
  return undefined
}

export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error
  return new HubError("hub/internal", "the hub failed at this", { cause: error })
}
