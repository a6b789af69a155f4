import { composeCancel, type Envelope, encode } from "@signalbox/protocol"
import type { HubError } from "../errors.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"

const replays = new WeakMap<StoredEvent, string>()

/** Another client's message, as an agent that echoes would show it. Made once, however many clients see it. */
function replayLine(event: StoredEvent, message: Envelope): string {
  const known = replays.get(event)
  if (known !== undefined) return known
  const line = encode({ ...message, isReplay: true })
  replays.set(event, line)
  return line
}

/** An event as a raw client sees it; undefined for what is not for it: questions are asks, and control traffic is others'. */
export function clientLine(event: StoredEvent, message: Envelope): string | undefined {
  switch (event.from) {
    case "agent":
      return message.type === "control_request" ? undefined : event.line
    case "client":
      return message.type === "user" ? replayLine(event, message) : undefined
    case "hub":
      return event.line
  }
}

export function questionOf(ask: Ask): Envelope {
  return { type: "control_request", request_id: ask.requestId, request: ask.request }
}

export function questionLine(ask: Ask): string {
  return encode(questionOf(ask))
}

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
