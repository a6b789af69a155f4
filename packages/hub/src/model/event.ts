import { type Envelope, isObject } from "@signalbox/protocol"
import { normaliseAgentMessage } from "@signalbox/protocol/dialects"
import type { HubEvent } from "@signalbox/protocol/hub-api"

/** Something worth keeping, before it has its number. */
export interface NewEvent {
  readonly at: number
  readonly from: HubEvent["from"]
  /** Who, when it was a person or program: the name of their token. */
  readonly by?: string
  /** An event with a key already in the session's log is not stored again. The wire's `uuid`, or a control request's id. */
  readonly key?: string
  /** The line as it was received: never re-encoded. */
  readonly line: string
}

/** `seq` is dense within its session and starts at 1. */
export interface StoredEvent extends NewEvent {
  readonly seq: number
}

export interface EventPage {
  /** The events, some at a time: each piece is read from the log when it is asked for. */
  readonly pieces: AsyncIterable<readonly StoredEvent[]>
  readonly largestPieceBytes: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly more: boolean
}

/** A kept line as what it means: an agent's old dialect is kept as it came. Undefined for what is no message, which the log does not hold. */
export function wireObject(line: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (!isObject(value) || typeof value["type"] !== "string") return undefined
    return normaliseAgentMessage({ ...value, type: value["type"] })
  } catch {
    return undefined
  }
}

/** Text as one line of at most so many characters. */
export function oneLine(text: string, maxChars: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).trimEnd()}…`
}
