import type { IncomingMessage, ServerResponse } from "node:http"
import type { Context } from "hono"
import type { Authority } from "../auth/authority.ts"
import { isLoopbackRequest } from "../auth/loopback.ts"
import { factsOfMessage, factsOfRequest, type RequestFacts } from "../auth/request-facts.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { ReplyShare } from "./reply-room.ts"
import type { Route } from "./route.ts"

/** What comes with a request beside itself: its message off the socket, or in tests just the peer's address. */
export interface Bindings {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
  readonly peer?: string
}

export interface HttpEnv {
  Bindings: Bindings
  Variables: {
    /** The route's path, for metrics: unlike the request's there are only so many of them. */
    path?: string
    caller?: Caller
    /** Set when the route reserved room for its reply. */
    share?: ReplyShare
  }
}

export function readFacts(context: Context<HttpEnv>): RequestFacts {
  const { incoming, peer } = context.env
  return incoming === undefined ? factsOfRequest(context.req.raw, peer) : factsOfMessage(incoming)
}

/** The caller, or null where none is needed. Otherwise 401, or 403 for a role that may not. */
export function requireAccess(context: Context<HttpEnv>, authority: Authority, access: Route["access"]): Caller | null {
  const facts = readFacts(context)
  if (access === "anybody" || (access === "viewer unless loopback" && isLoopbackRequest(facts))) return null
  const caller = authority.identify(facts)
  if (caller === null) {
    throw new HubError("auth/required", "A token is needed: send it as Authorization: Bearer …, or sign in")
  }
  context.set("caller", caller)
  const needed = access === "viewer unless loopback" ? "viewer" : access
  if (hasAccess(caller.role, needed)) return caller
  throw new HubError("auth/forbidden", `This needs the role ${needed}; the token's role is ${caller.role}`)
}
