import { CodedError } from "@signalbox/protocol/envelope"
import type { RunnerRefusal } from "@signalbox/protocol/runner-wire"

export { errorText, systemCode } from "@signalbox/transport/errors"

/** Everything a runner refuses or fails at. Callers tell failures apart by `code`, never by text. */
export type RunnerErrorCode =
  | RunnerRefusal
  /** Another runner works in this state directory. */
  | "runner/locked"
  /** The notes of an earlier runner cannot be read. */
  | "runner/bad-state"

export class RunnerError<Code extends RunnerErrorCode = RunnerErrorCode> extends CodedError<Code> {
  override readonly name = "RunnerError"
}

/** The refusal of a hub's request. */
export class Refusal extends RunnerError<RunnerRefusal> {}
