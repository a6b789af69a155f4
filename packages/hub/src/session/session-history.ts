import { type Envelope, encode, type UnlistedRequest } from "@signalbox/protocol"
import type { StoredEvent } from "../model/event.ts"
import type { SessionPipeline } from "./pipeline.ts"

export interface SessionHistoryOptions {
  readonly pipeline: SessionPipeline
  readonly now?: (() => Date) | undefined
}

interface How {
  readonly line: string
  readonly by?: string
  readonly key?: string
}

/** Writes into a session's log, through its one order. */
export class SessionHistory {
  readonly #options: SessionHistoryOptions

  constructor(options: SessionHistoryOptions) {
    this.#options = options
  }

  /** Undefined when the log has it already. What people send is synced. */
  record(from: "agent" | "client" | "hub", message: Envelope, how: How): Promise<StoredEvent | undefined> {
    return this.#options.pipeline.event({ at: this.#time(), from, ...how }, message, { synced: from === "client" })
  }

  /** What an agent said, and nobody waits for. */
  keep(message: Envelope, how: How): void {
    this.#options.pipeline.take({ at: this.#time(), from: "agent", ...how }, message)
  }

  /** Interrupts and changes of mode or model are part of the history. */
  recordRequest(request: UnlistedRequest, by: string): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "control_request", request_id: "", request }
    return this.record("client", message, { by, line: encode(message) })
  }

  recordAnswer(message: Envelope, by: string, from: "client" | "hub" = "client"): Promise<StoredEvent | undefined> {
    return this.record(from, message, { by, line: encode(message) })
  }

  /** A note of the hub's own, in the log; with a key, once. */
  note(what: string, details: Readonly<Record<string, unknown>> = {}, key?: string): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "hub", subtype: what, ...details }
    return this.record("hub", message, { line: encode(message), ...(key === undefined ? {} : { key }) })
  }

  /** Nobody else tells it to those who come later. */
  noteCancelled(uuid: string): Promise<StoredEvent | undefined> {
    return this.note("message_cancelled", { message_uuid: uuid }, `message_cancelled:${uuid}`)
  }

  #time(): number {
    return this.#options.now?.().getTime() ?? Date.now()
  }
}
