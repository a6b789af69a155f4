import type { UnlistedRequest } from "@signalbox/protocol"
import type { FollowItem, FollowOptions } from "./follower.ts"
import type { EventPage, EventQuery, Session } from "./hub-records.ts"
import type { Rest } from "./rest.ts"
import { newUuid } from "./uuid.ts"

export interface SendOptions {
  /** The same one again is the same message. One is made up where none is given. */
  readonly uuid?: string
  readonly priority?: "now" | "next" | "later"
}

export interface HubSession {
  readonly id: string
  get(): Promise<Session>
  /**
   * Its events and deltas, from `after` on and then live, in order, none twice and none left out. Comes back by itself when
   * the connection is lost. Ends when the reader stops, at `close()`, or with an error that coming back would not mend.
   */
  follow(options?: FollowOptions): AsyncIterableIterator<FollowItem, undefined>
  /** A page of its history. */
  events(query?: EventQuery): Promise<EventPage>
  send(content: string | readonly unknown[], options?: SendOptions): Promise<{ uuid: string; seq: number }>
  /** Takes back a message that still waits. */
  cancel(uuid: string): Promise<unknown>
  /** A control request to its agent, and the agent's answer. */
  control(request: UnlistedRequest, options?: { readonly timeoutMs?: number }): Promise<unknown>
  interrupt(): Promise<void>
  change(fields: { readonly title?: string; readonly archived?: boolean }): Promise<Session>
  /** Ends its agent; its history stays. */
  stop(): Promise<unknown>
}

export interface SessionPorts {
  readonly rest: Rest
  readonly follow: (key: string, options: FollowOptions) => AsyncIterableIterator<FollowItem, undefined>
  /** For what may have to start an agent: a message to one that has ended does. */
  readonly startTimeoutMs: number
}

const CONTROL_TIMEOUT_MS = 60_000
/** So that the hub's own time-out, which says more, comes first. */
const EXTRA_MS = 5000

export function openHubSession(id: string, { rest, follow, startTimeoutMs }: SessionPorts): HubSession {
  const path = `/api/sessions/${encodeURIComponent(id)}`
  return {
    id,
    get: () => rest.call({ method: "GET", path, repeatable: true }),
    follow: (options = {}) => follow(id, options),
    events: (query = {}) => rest.call({ method: "GET", path: `${path}/events`, query, repeatable: true }),
    send: (content, options = {}) =>
      rest.call({
        method: "POST",
        path: `${path}/messages`,
        body: { content, uuid: newUuid(), ...options },
        repeatable: true,
        timeoutMs: startTimeoutMs,
      }),
    cancel: (uuid) => rest.call({ method: "DELETE", path: `${path}/messages/${encodeURIComponent(uuid)}` }),
    async control(request, { timeoutMs = CONTROL_TIMEOUT_MS } = {}) {
      const body = { request, timeoutMs }
      const reply = await rest.call<{ response: unknown }>({
        method: "POST",
        path: `${path}/control`,
        body,
        timeoutMs: timeoutMs + EXTRA_MS,
      })
      return reply.response
    },
    // Never repeated: a second one could hit the next turn.
    async interrupt() {
      await rest.call({ method: "POST", path: `${path}/interrupt` })
    },
    change: (fields) => rest.call({ method: "PATCH", path, body: fields, repeatable: true }),
    stop: () => rest.call({ method: "DELETE", path, repeatable: true }),
  }
}
