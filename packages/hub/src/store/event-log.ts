import type { NewEvent, StoredEvent } from "../model/event.ts"

/**
 * The durable, ordered history of every session. The rules every implementation keeps are in docs/spec/event-log.md, and
 * `./testing` holds the suite that checks them on each.
 */
export interface EventLog {
  /** Resolves when the events are durable, in order; those whose key the session has already are left out of `stored`. */
  append(session: string, events: readonly NewEvent[], options?: AppendOptions): Promise<Appended>
  /** Events with `after < seq < before`, ascending: the first `limit` of them, or the last when only `before` is given. */
  read(session: string, range: ReadRange): Promise<readonly StoredEvent[]>
  /** The events that `read` would give, without their lines. */
  sizes(session: string, range: ReadRange): Promise<readonly LineSize[]>
  /** The event with this key, if the session has it. */
  find(session: string, key: string): Promise<StoredEvent | undefined>
  bounds(session: string): Promise<LogBounds>
  /** When it resolves the session has no events, and its name is free. They are deleted by `purgeSome`, if need be after a restart. */
  purge(session: string): Promise<void>
  /** Deletes some of the events that were purged. False: none are left. */
  purgeSome(): Promise<boolean>
}

export interface AppendOptions {
  /** Synced to disk in full before it resolves: for what a person or program was promised. */
  readonly synced?: boolean
}

export interface Appended {
  readonly stored: readonly StoredEvent[]
  readonly lastSeq: number
}

export interface ReadRange {
  readonly after?: number
  readonly before?: number
  /** Never more than MAX_READ_EVENTS, whatever is asked. */
  readonly limit: number
  /** Stops before the event whose line would go beyond it, but not before the first. */
  readonly maxBytes?: number
}

export interface LineSize {
  readonly seq: number
  /** Size of the line as UTF-8. */
  readonly bytes: number
}

export const MAX_READ_EVENTS = 10_000

/** Both 0 for a session without events. */
export interface LogBounds {
  readonly firstSeq: number
  readonly lastSeq: number
}
