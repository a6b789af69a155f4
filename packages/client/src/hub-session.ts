import type { UnlistedRequest } from "@signalbox/protocol"
import type { NewMessage, RouteQuery, SessionPatch } from "@signalbox/protocol/hub-api"
import type { FollowItem, FollowOptions } from "./follower.ts"
import type { CallOptions, Rest } from "./rest.ts"
import { newUuid } from "./uuid.ts"

/** Where `uuid` is left out, one is made up. */
export type SendOptions = Omit<NewMessage, "content">

export type HubSession = ReturnType<typeof openHubSession>

export interface SessionPorts {
  readonly rest: Rest
  readonly follow: (key: string, options: FollowOptions) => AsyncIterableIterator<FollowItem, undefined>
  /** For what may have to start an agent: a message to one that has ended does. */
  readonly startTimeoutMs: number
}

const CONTROL_TIMEOUT_MS = 60_000
/** So that the hub's own time-out, which says more, comes first. */
const EXTRA_MS = 5000

export function openHubSession(id: string, { rest, follow, startTimeoutMs }: SessionPorts) {
  const params = { id }
  return {
    id,
    get: () => rest.route("GET /api/sessions/:id", { params }),
    /**
     * Its events and deltas, from `after` on and then live, in order, none twice and none left out. Comes back by itself when
     * the connection is lost. Ends when the reader stops, at `close()`, or with an error that coming back would not mend.
     */
    follow: (options: FollowOptions = {}) => follow(id, options),
    /** A page of its history. */
    events: (query: RouteQuery<"GET /api/sessions/:id/events"> = {}) =>
      rest.route("GET /api/sessions/:id/events", { params, query }),
    /** The landmarks of its whole history. */
    outline: () => rest.route("GET /api/sessions/:id/outline", { params }),
    send: (content: NewMessage["content"], options: SendOptions = {}) =>
      rest.route("POST /api/sessions/:id/messages", {
        params,
        body: { content, uuid: newUuid(), ...options },
        repeatable: true,
        timeoutMs: startTimeoutMs,
      }),
    /** Takes back a message that still waits. */
    cancel: (uuid: string) => rest.route("DELETE /api/sessions/:id/messages/:uuid", { params: { id, uuid } }),
    /** A control request to its agent, and the agent's answer. */
    async control(
      request: UnlistedRequest,
      { timeoutMs = CONTROL_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
    ): Promise<unknown> {
      const call = { params, body: { request, timeoutMs }, timeoutMs: timeoutMs + EXTRA_MS }
      return (await rest.route("POST /api/sessions/:id/control", call)).response
    },
    /** Not repeated: a second one could hit the next turn. */
    async interrupt(options: Omit<CallOptions, "repeatable"> = {}): Promise<void> {
      await rest.route("POST /api/sessions/:id/interrupt", { params, ...options })
    },
    /** Which variables its agent took and which it refused; null when it does not tell. */
    setEnvironment: (variables: Readonly<Record<string, string>>) =>
      rest.route("POST /api/sessions/:id/env", { params, body: { variables } }),
    change: (fields: SessionPatch) => rest.route("PATCH /api/sessions/:id", { params, body: fields, repeatable: true }),
    /** Ends its agent; its history stays. */
    stop: () => rest.route("DELETE /api/sessions/:id", { params, repeatable: true }),
    /** Removes the git worktree that was made for it, never with uncommitted changes. */
    removeWorktree: () => rest.route("DELETE /api/sessions/:id/worktree", { params }),
  }
}
