import { saysSignIn, type UnlistedRequest } from "@signalbox/protocol"
import type { HubEvent, NewMessage, RouteQuery, Session, SessionPatch } from "@signalbox/protocol/hub-api"
import { HubClientError } from "./errors.ts"
import type { FollowItem, FollowOptions } from "./follower.ts"
import { type CallOptions, newUuid, type Rest } from "./rest.ts"

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
    /** A control request to its agent, and the agent's answer; null for a refusal that `mayRefuse` allows. */
    async control(
      request: UnlistedRequest,
      { timeoutMs = CONTROL_TIMEOUT_MS, ...may }: { readonly timeoutMs?: number; readonly mayRefuse?: boolean } = {},
    ): Promise<unknown> {
      const call = { params, body: { request, timeoutMs, ...may }, timeoutMs: timeoutMs + EXTRA_MS }
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
    /** How far this person has read it; 0 is not at all. */
    readMark: async () => (await rest.route("GET /api/sessions/:id/read", { params })).seq,
    /** Moves forward only. Returns the mark as it is then. */
    markRead: async (seq: number) =>
      (await rest.route("PUT /api/sessions/:id/read", { params, body: { seq }, repeatable: true })).seq,
    /** Ends its agent; its history stays. */
    stop: () => rest.route("DELETE /api/sessions/:id", { params, repeatable: true }),
    /**
     * Deletes a session that has ended for good, with its history. Whoever sent it twice gets `session/unknown`. An older hub would
     * stop the session instead, and reply with it: it is asked first for something that came with the purge.
     */
    async purge(): Promise<void> {
      try {
        await rest.route("GET /api/store")
      } catch (error) {
        if (error instanceof HubClientError && error.status === 404) throw tooOldToPurge(error)
        throw error
      }
      const reply: unknown = await rest.route("DELETE /api/sessions/:id", { params, query: { purge: true } })
      if (reply !== undefined) throw tooOldToPurge()
    },
    /** Removes the git worktree that was made for it, never with uncommitted changes. */
    removeWorktree: () => rest.route("DELETE /api/sessions/:id/worktree", { params }),
  }
}

function tooOldToPurge(cause?: unknown): HubClientError {
  return new HubClientError("client/too-old", "this hub is too old to delete sessions: update it", { cause })
}

const PAGE = 1000

/** Every event up to `lastSeq`, page by page: those that come meanwhile are not waited for. */
export async function* readEvents(
  session: Pick<HubSession, "events">,
  lastSeq: number,
  onRead: (seq: number) => void = () => undefined,
): AsyncGenerator<HubEvent> {
  let after = 0
  while (after < lastSeq) {
    const { events } = await session.events({ after, limit: PAGE })
    const last = events.at(-1)?.seq
    if (last === undefined) return
    for (const event of events) if (event.seq <= lastSeq) yield event
    after = last
    onRead(Math.min(after, lastSeq))
  }
}

type Facts = Pick<Session, "state" | "lastResult" | "exit">

/** True if the session's last turn or process failed. The state of a failed session is still `idle` or `ended`. */
export function hasFailed({ state, lastResult, exit }: Facts): boolean {
  if (state === "running" || state === "starting") return false
  // A person ended it: a turn that broke off by that did not fail.
  if (state === "ended" && exit?.reason.startsWith("stopped by") === true) return false
  const isErrorResult = lastResult?.isError === true && lastResult.interruptedBy === undefined
  const isBadExit = state === "ended" && (exit?.signal !== undefined || (exit?.code ?? 0) !== 0)
  return isErrorResult || isBadExit
}

/** Advice for a failed session, if we have any: "Not signed in. On attic, run …". */
export function failureAdvice(session: Facts & Pick<Session, "lastLine">, machine?: string): string | undefined {
  if (!hasFailed(session) || !saysSignIn(session.lastLine ?? session.exit?.reason ?? "")) return undefined
  return `Not signed in. ${machine === undefined ? "On its machine" : `On ${machine}`}, run claude, then /login.`
}
