import { CodedError } from "@signalbox/protocol/envelope"

export type SimulatorErrorCode =
  /** A scenario does not follow the schema; `details.problems` lists every place. */
  | "scenario/invalid"
  /** A recording, or a replay made from one, cannot be read; `details` has the file and the line. */
  | "recording/invalid"
  /** No such wire profile; `details.known` lists those there are. */
  | "profile/unknown"
  /** No fault is written like this; the message lists what there is. */
  | "fault/unknown"
  /** A command line that the CLI would refuse too; the message is what it says on stderr. */
  | "launch/refused"
  /** Asked to listen on, or to point a CLI at, something other than this machine. */
  | "messages-api/not-loopback"
  /** Still waiting when the scripted API was closed. */
  | "messages-api/closed"

export class SimulatorError extends CodedError<SimulatorErrorCode> {
  override readonly name = "SimulatorError"
}

/** A launch that is refused, in words for stderr. */
export function refused(message: string, cause?: unknown): SimulatorError {
  return new SimulatorError("launch/refused", message, { cause })
}
