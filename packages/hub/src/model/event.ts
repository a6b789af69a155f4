/** Where an event came from: the agent's line, a client's message to it, or a note of the hub's own. */
type EventOrigin = "agent" | "client" | "hub"

/** Something worth keeping, before it has its number. */
export interface NewEvent {
  readonly at: number
  readonly from: EventOrigin
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
