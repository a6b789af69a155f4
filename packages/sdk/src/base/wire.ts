import { defined, textOf } from "@signalbox/protocol/envelope"
import { SdkError } from "./errors.ts"

/**
 * This room's use of the wire protocol at run time, by its narrow entries, and from one file: every other way of
 * importing it shows in the time it takes to import the package.
 */
export { type AgentLine, type AgentState, idleAgent, stepAgent } from "@signalbox/protocol/agent-state"
export { composeError, composeRequest, composeSuccess, composeUserMessage, encode } from "@signalbox/protocol/compose"
export { createPendingRequests } from "@signalbox/protocol/correlation"
export { defined, type Envelope, fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"

/** The inner part of a `control_response`, as it came. */
export type Answer = Readonly<Record<string, unknown>>

export function payloadOf(answer: Answer, subtype: string): unknown {
  if (answer["subtype"] !== "error") return answer["response"]
  const message = textOf(answer, "error") ?? `${subtype} was refused`
  const details = defined({ subtype, errorCode: textOf(answer, "error_code") })
  throw new SdkError("request/refused", message, { details })
}

/** Lists of an answer to `initialize`: what an agent asked before we were there, and still wants to know. */
export const PENDING_LISTS = [
  "pending_permission_requests",
  "pending_user_dialog_requests",
  "pending_elicitation_requests",
]

/** A value of which the agent, or the program, says by itself what it is. It is handed on as that, and not checked again. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- whoever hands it on names the type that was promised
export function trusted<T>(value: unknown): T
export function trusted(value: unknown): unknown {
  return value
}
