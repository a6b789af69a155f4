import { randomUUID } from "node:crypto"
import type { ErrorHandler, MiddlewareHandler } from "hono"
import type { Authority } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { HubLogger } from "../operations/logger.ts"
import { addCorsHeaders, addSecurityHeaders, isPreflight, preflightReply } from "./headers.ts"
import { errorReply, internalError, isSmall } from "./reply.ts"
import type { ReplyRoom } from "./reply-room.ts"
import { type Pacing, paceBody } from "./reply-room.ts"
import { type Bindings, type HttpEnv, readFacts } from "./request-context.ts"

interface Operations {
  readonly authority: Authority
  readonly logger: HubLogger
  readonly metrics: HubMetrics
}

/** Outermost: whatever the reply is, it gets its headers, is counted and is logged. */
export function dressReplies({ authority, logger, metrics }: Operations): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const started = performance.now()
    await next()
    addSecurityHeaders(context.res.headers, authority.exposure)
    const seconds = (performance.now() - started) / 1000
    const { method } = context.req
    const { status } = context.res
    metrics.requestServed({ method: knownMethod(method), path: context.get("path") ?? "other", status, seconds })
    const session = /^\/api\/sessions\/([^/]+)/.exec(context.req.path)?.[1]
    const ms = Math.round(seconds * 1e6) / 1e3
    // The path without its query: what people search for is theirs.
    logger.debug({ method, path: context.req.path, status, ms, session, by: context.get("caller")?.name }, "request")
  }
}

/** A foreign Host or Origin is refused before anybody is asked who they are; an allowed Origin gets CORS, on errors too. */
export function admitOrigins(authority: Authority): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const verdict = authority.checkHostAndOrigin(readFacts(context))
    if (verdict.kind !== "allowed") return next()
    if (isPreflight(context.req.raw)) context.res = preflightReply(context.req.raw)
    else await next()
    addCorsHeaders(context.res.headers, verdict.origin)
  }
}

const STALL_MS = 30_000

/** A large reply is read no faster than its reader takes it, counts against its token meanwhile, and ends with a stall. */
export function paceReplies(room: ReplyRoom, stallMs = STALL_MS): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next()
    const { res } = context
    const share = context.get("share") ?? room.open(context.get("caller")?.tokenId ?? "")
    if (res.body === null || isSmall(res) || context.req.method === "HEAD") {
      share.close()
      if (context.req.method === "HEAD") await res.body?.cancel()
      return
    }
    try {
      const body = await paceBody(res.body, { share, stallMs, ...connectionOf(context.env) })
      context.res = new Response(body, res)
    } catch (error) {
      // The refusal must not inherit this reply's headers.
      context.res = undefined
      throw error
    }
  }
}

function connectionOf({ incoming, outgoing }: Bindings): Pick<Pacing, "hangUp" | "onClosed"> {
  const hangUp = () => void incoming?.socket.destroy()
  if (outgoing === undefined) return { hangUp }
  return { hangUp, onClosed: (closed) => void (outgoing.destroyed ? closed() : outgoing.once("close", closed)) }
}

export function replyToError({ logger }: Operations): ErrorHandler<HttpEnv> {
  return (error, context) => {
    if (error instanceof HubError && !isOurFailure(error)) return errorReply(error)
    const reference = randomUUID()
    logger.error({ err: error, reference, path: context.req.path }, "a request failed")
    return errorReply(error instanceof HubError ? error : internalError(error, reference))
  }
}

/**
 * An agent that refuses or does not answer is told to the caller; a store that fails is for whoever runs the hub. That the
 * disk is full is logged when it begins: each request that is refused for it would fill it further.
 */
function isOurFailure({ code }: HubError): boolean {
  return code === "hub/internal" || code === "store/failed"
}

/** Anybody can make a method up; the metrics must not grow with them. */
function knownMethod(method: string): string {
  return /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : "other"
}
