import { type Envelope, isObject } from "../envelope.ts"
import type { Ask } from "./ask.ts"
import type { HubEvent } from "./event.ts"
import type { Session } from "./session.ts"

/** A line that a viewer sends on `/api/stream`. The session `*` is all of them, without their events. */
export type StreamOperation =
  | { readonly op: "subscribe"; readonly session: string; readonly after?: number }
  | { readonly op: "unsubscribe"; readonly session: string }
  | { readonly op: "ping" }

/** Where a subscription begins. With `gap` some events are no longer in the hub's log. */
export interface Subscribed {
  readonly verdict: "ok" | "gap"
  readonly firstSeq: number
  readonly lastSeq: number
}

/** A line of the hub's stream, as a reader takes it: with as much of it checked as readers stand on. */
export type StreamLine =
  | { readonly ev: "subscribed"; readonly session: string; readonly subscribed: Subscribed }
  | { readonly ev: "event"; readonly session: string; readonly event: HubEvent }
  | { readonly ev: "delta"; readonly session: string; readonly message: Envelope }
  | { readonly ev: "ask"; readonly session: string; readonly ask: Ask }
  | { readonly ev: "changed"; readonly session: string; readonly record: Session }
  /** This person read it, perhaps in another browser. */
  | { readonly ev: "read"; readonly session: string; readonly seq: number }
  /** It was deleted for good, with its history. */
  | { readonly ev: "purged"; readonly session: string }
  | { readonly ev: "lagged"; readonly session: string }
  | { readonly ev: "error"; readonly session: string; readonly code?: string; readonly message?: string }
  | { readonly ev: "pong" }
  /** Newer than we are: left alone. */
  | { readonly ev: "unknown" }

/** The fields of a line by the contract; their contents are looked at where a reader stands on them. */
interface RawLine extends Partial<Omit<Subscribed, "verdict">>, Partial<HubEvent> {
  readonly ev?: string
  readonly session?: string
  readonly verdict?: string
  readonly ask?: Ask
  readonly record?: Session
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** Undefined when it is no line of a hub's stream at all. */
export function readStreamLine(line: string): StreamLine | undefined {
  const raw = parse(line)
  const { ev, session } = raw ?? {}
  if (raw === undefined || typeof ev !== "string") return undefined
  if (ev === "pong") return { ev }
  if (ev === "ask")
    return typeof raw.ask?.sessionId === "string"
      ? { ev, session: raw.ask.sessionId, ask: readAsk(raw.ask) }
      : undefined
  if (typeof session !== "string") return { ev: "unknown" }
  switch (ev) {
    case "subscribed":
      return { ev, session, subscribed: readSubscribed(raw) }
    case "event":
      return readEvent(session, raw)
    case "delta":
      return isObject(raw.message) ? { ev, session, message: raw.message } : undefined
    case "changed":
      return isObject(raw.record) ? { ev, session, record: raw.record } : undefined
    case "read":
      return isSeq(raw.seq) ? { ev, session, seq: raw.seq } : undefined
    case "lagged":
    case "purged":
      return { ev, session }
    case "error":
      return { ev, session, ...raw.error }
    default:
      return { ev: "unknown" }
  }
}

function readSubscribed({ verdict, firstSeq, lastSeq }: RawLine): Subscribed {
  return {
    verdict: verdict === "gap" ? "gap" : "ok",
    firstSeq: isSeq(firstSeq) ? firstSeq : 0,
    lastSeq: isSeq(lastSeq) ? lastSeq : 0,
  }
}

function readEvent(session: string, raw: RawLine): StreamLine | undefined {
  const { seq, at = "", from = "hub", by, message } = raw
  if (!isSeq(seq) || !isObject(message)) return undefined
  return { ev: "event", session, event: { seq, at, from, ...(by === undefined ? {} : { by }), message } }
}

/** A long input is said once on a stream; whoever reads the request finds it there, as in a reply. */
function readAsk(ask: Ask): Ask {
  const { input, request } = ask
  if (input === undefined || !isObject(request) || request["input"] !== undefined) return ask
  return { ...ask, request: { ...request, input } }
}

function isSeq(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0
}

function parse(line: string): RawLine | undefined {
  try {
    const value: RawLine | null = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
