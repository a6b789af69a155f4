import { HubClientError } from "@signalbox/client"
import { defined, type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { type HubFailureCode, queryClosed, SdkError } from "../base/errors.ts"

/** The hub's own words that programs are likely to tell apart. Any other is in `details.code` of a `hub/refused`. */
const PASSED_ON = [
  "auth/required",
  "auth/forbidden",
  "session/unknown",
  "session/queue-full",
  "runner/none",
  "runner/unknown",
] as const satisfies readonly HubFailureCode[]

/** The error that a program is told for a failure of the client's or the hub's. */
export function hubFailure(error: unknown): Error {
  if (error instanceof SdkError || !(error instanceof HubClientError)) {
    return error instanceof Error ? error : new Error(String(error))
  }
  const { code, message, status, details } = error
  if (code === "client/closed" || code === "client/aborted") return queryClosed(error)
  if (code === "client/unreachable" || code === "client/timeout") return unreachable(message, error)
  if (code === "client/misconfigured") {
    return new SdkError("sdk/bad-option", `options.hub: ${message}`, { cause: error, details: { option: "hub" } })
  }
  return refusal({ code, message }, { cause: error, details: { ...details, ...defined({ status }) } })
}

/** A refusal of the hub's, by its code. */
export function refusal(
  { code, message }: { readonly code: string; readonly message: string },
  { cause, details = {} }: { readonly cause?: unknown; readonly details?: Readonly<Record<string, unknown>> } = {},
): SdkError {
  const known = PASSED_ON.find((each) => each === code)
  return new SdkError(known ?? "hub/refused", `the hub refused: ${message}`, { cause, details: { ...details, code } })
}

export function unreachable(what: string, cause?: unknown): SdkError {
  return new SdkError("hub/unreachable", what, { cause })
}

export function sessionEnded(session: string): SdkError {
  const message = `the session ${session} is over: its agent ended. Its history is still there; start a new session to go on`
  return new SdkError("hub/session-ended", message, { details: { session } })
}

/** The agent ended, and something was still expected of it. */
export function endedAtWork(session: string, note: Envelope): SdkError {
  const { type: _type, subtype: _subtype, ...exit } = note
  const reason = textOf(note, "reason") ?? "no reason given"
  const message = `the agent of session ${session} ended before it was done: ${reason}. Its history is still there; start a new session to go on`
  return new SdkError("hub/session-ended", message, { details: { session, ...exit } })
}

/** The turn has lost its process, and will have no result. */
export function agentLost(session: string, why: string): SdkError {
  const message = `the turn in session ${session} has no result: ${why}. Send your message again if it is to be done`
  return new SdkError("hub/agent-lost", message, { details: { session } })
}

/** Trying again changes nothing. */
export function isForGood(error: unknown): boolean {
  return error instanceof HubClientError && error.status !== undefined && error.status < 500 && error.status !== 429
}

/** A note of the hub's to this program alone that it cannot go on after; undefined for any other. */
export function noteFailure(note: Envelope, isOurMessage: (uuid: string) => boolean): SdkError | undefined {
  switch (note["subtype"]) {
    case "refused": {
      const uuid = textOf(note, "uuid")
      if (uuid === undefined || !isOurMessage(uuid)) return undefined
      const error = fieldOf(note, "error")
      return refusal({ code: textOf(error, "code") ?? "", message: textOf(error, "message") ?? "no reason given" })
    }
    case "hooks_not_registered":
      return unsupported("hooks", textOf(note, "message"))
    case "servers_not_registered":
      return unsupported("mcpServers", textOf(note, "message"))
    default:
      return undefined
  }
}

/** Without its hooks or its tools a program would do something else than it says. */
function unsupported(option: string, message = "the hub could not bring them to the agent"): SdkError {
  return new SdkError("sdk/unsupported", `options.${option}: ${message}`, { details: { option } })
}
