import { randomUUID } from "node:crypto"
import {
  composeCancel,
  composeRequest,
  createPendingRequests,
  type Envelope,
  fieldOf,
  ProtocolError,
  textOf,
  type UnlistedRequest,
} from "@signalbox/protocol"
import { HubError, reasonOf } from "../errors.ts"
import type { SessionTransport } from "../model/session-record.ts"

/** The agent's answer: the `response` of its control_response, success or error. */
export type ControlReply = Readonly<Record<string, unknown>>

export type Variables = Readonly<Record<string, string>>

/** The outcome of an act on the agent. */
export interface Outcome {
  readonly outcome: "done" | "refused" | "unanswered"
  readonly [detail: string]: unknown
}

export interface Asking {
  readonly timeoutMs: number
  /** The asker does not want the answer any more. */
  readonly signal?: AbortSignal | undefined
}

/** How long an agent has to tell which variables it took: one that is known to, and one that is not. */
const ANSWER_MS = 10_000
const SILENCE_MS = 1_000

/** The hub's requests to one process of an agent, each with an id of the hub's own, each settled. */
export class AgentControl {
  readonly #pending = createPendingRequests<ControlReply>({ memory: 0 })

  async ask(wire: AgentWire, request: UnlistedRequest, { timeoutMs, signal }: Asking): Promise<ControlReply> {
    const requestId = `hub-${randomUUID()}`
    const reply = this.#pending.wait(requestId, signal === undefined ? { timeoutMs } : { timeoutMs, signal })
    await sendOr(wire, composeRequest(requestId, request), reply)
    try {
      return await reply
    } catch (cause) {
      if (isGivenUp(cause)) void takeBack(wire, requestId)
      throw asHubError(cause, request.subtype, timeoutMs)
    }
  }

  /** `answers`: this agent is known to tell what it took. Others get a moment, in case they do. */
  async setEnvironment(wire: AgentWire, variables: Variables, answers: boolean): Promise<ControlReply> {
    const requestId = `hub-${randomUUID()}`
    const reply = this.#pending.wait(requestId, { timeoutMs: answers ? ANSWER_MS : SILENCE_MS })
    await sendOr(wire, { type: "update_environment_variables", variables, request_id: requestId }, reply)
    try {
      return await reply
    } catch (cause) {
      if (isGivenUp(cause)) return { subtype: "success", response: { applied: null } }
      throw asHubError(cause, "update_environment_variables", ANSWER_MS)
    }
  }

  /** True when the reply was to one of ours. */
  take(message: Envelope): boolean {
    const response = fieldOf(message, "response")
    const requestId = textOf(response, "request_id")
    if (response === undefined || requestId?.startsWith("hub-") !== true) return false
    this.#pending.answer(requestId, response)
    return true
  }

  /** The connection is over: no answer will come. */
  close(reason: string): void {
    this.#pending.close(reason)
  }
}

/** Whatever sending does, the wait is settled by the reply, the time-out or the end of the connection. */
async function sendOr(wire: AgentWire, message: Envelope, reply: Promise<unknown>): Promise<void> {
  reply.catch(() => undefined)
  try {
    await wire.send(message)
  } catch (cause) {
    throw new HubError("session/no-agent", `the request could not be sent: ${reasonOf(cause)}`, { cause })
  }
}

/** The payload of a success; an agent's error becomes control/refused. */
export function payloadOf(reply: ControlReply, subtype: string): unknown {
  if (reply["subtype"] === "success") return reply["response"] ?? {}
  const error = textOf(reply, "error") ?? "the agent gave no reason"
  const code = textOf(reply, "error_code")
  throw new HubError("control/refused", `the agent refused ${subtype}: ${error}`, {
    details: { agentError: error, ...(code === undefined ? {} : { agentErrorCode: code }) },
  })
}

/** The agent may be at it still. */
function isGivenUp(cause: unknown): boolean {
  return cause instanceof ProtocolError && (cause.code === "request/timeout" || cause.code === "request/aborted")
}

/** Not to the oldest, which exit on it: their wire refuses it. */
async function takeBack(wire: AgentWire, requestId: string): Promise<void> {
  try {
    await wire.send(composeCancel(requestId))
  } catch {
    // Gone, or too old: what it answers is not waited for in any case.
  }
}

function asHubError(cause: unknown, subtype: string, timeoutMs: number): HubError {
  if (cause instanceof ProtocolError && cause.code === "request/timeout") {
    return new HubError("control/timeout", `the agent did not answer ${subtype} within ${timeoutMs} ms`, { cause })
  }
  if (cause instanceof ProtocolError && cause.code === "request/aborted") {
    return new HubError("control/timeout", `${subtype} was taken back before the agent answered`, { cause })
  }
  return new HubError("session/no-agent", `the agent went away before it answered ${subtype}`, { cause })
}

export function noAgent(why: string): HubError {
  return new HubError("session/no-agent", `${why}: start an agent for it, or make a new session`)
}

/** One connection of one process of an agent, as its session sees it. */
export interface AgentWire {
  /** The process; a reconnect of the same one has the same. */
  readonly incarnation: string
  /** It does not take an answer twice: its runner sees to that. */
  readonly hearsOnce: boolean
  /** It says that it was here before, and it is not known where: the session it names is the one it left. */
  readonly isReturning: boolean
  /** It turned out to be another process than was thought: that of this incarnation, or one that was never here. */
  renew(incarnation?: string): void
  /** May change once: an agent is seen to be hybrid at its first POST. */
  readonly transport: SessionTransport
  /** Resolves when the line was taken; rejects when the connection is over or the line is not fit for this agent. */
  send(message: Envelope): Promise<void>
  /** NOT_ALLOWED tells every CLI not to come back, COME_BACK to come back. */
  closeWith(code: number, reason: string): Promise<void>
  /** The store refused what it said: nothing more is taken from it, and it comes back and says that again. */
  giveUp(): void
}
