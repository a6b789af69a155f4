import { composeCancel, type Envelope, encode } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import { onceFor } from "../viewers/stream-lines.ts"

/** Another client's message, as an agent that echoes would show it. */
const replayLine = onceFor((message: Envelope) => encode({ ...message, isReplay: true }))

/** An event as a raw client sees it; undefined for what is not for it: questions are asks, and control traffic is others'. */
export function clientLine(event: StoredEvent, message: Envelope): string | undefined {
  switch (event.from) {
    case "agent":
      return message.type === "control_request" ? undefined : event.line
    case "client":
      return message.type === "user" ? replayLine(message) : undefined
    case "hub":
      return event.line
  }
}

export function questionOf(ask: Ask): Envelope {
  return { type: "control_request", request_id: ask.requestId, request: ask.request }
}

export const questionLine = onceFor((ask: Ask) => encode(questionOf(ask)))

export function cancelLine(requestId: string): string {
  return encode(composeCancel(requestId))
}

/** A note of the hub's to one client, never logged. Programs get types they do not know as they are. */
export function noteLine(subtype: string, details: Readonly<Record<string, unknown>>): string {
  return encode({ type: "hub", subtype, ...details })
}

export function refusalLine({ code, message }: HubError, about: Readonly<Record<string, unknown>> = {}): string {
  return noteLine("refused", { ...about, error: { code, message } })
}

export function forbidden({ role }: Caller, what: string): HubError {
  return new HubError("auth/forbidden", `the role ${role} may not ${what} here: use a token with more rights`)
}

/** The way to one client, whatever it is made of: a socket, an event stream, a relay's share of one. */
export interface ClientPort {
  /** A numbered line of the session. */
  event(line: string, event: StoredEvent): void
  /** A line that passes and is never numbered. `isSpeech`: a piece of a message in progress. */
  delta(line: string, isSpeech: boolean): void
  /** A question of the agent's, or word that it is settled. Keeps its place among the events. */
  ask(line: string): void
  /** For this client alone: the reply to its request, a call of its hook or server. May overtake what waits. */
  tell(line: string): void
  /** 1000: the session is over. 1012: come back. 4001: not allowed. */
  end(code: number, reason: string): void
}
