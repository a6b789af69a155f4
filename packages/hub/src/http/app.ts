import { randomUUID } from "node:crypto"
import type { Access, Method, ParamsOf, ReplyOf, RouteRule, RouteTable } from "@signalbox/protocol/hub-api"
import { ROUTES, SMALL_BODY_BYTES } from "@signalbox/protocol/hub-api/schemas"
import { type Context, type ErrorHandler, Hono, type MiddlewareHandler } from "hono"
import type { z } from "zod"
import type { Authority, RequestFacts } from "../auth/authority.ts"
import { HubError } from "../errors.ts"
import type { HubCore } from "../hub-core.ts"
import type { Caller } from "../model/access.ts"
import type { HubLogger } from "../operations/logger.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import { addCockpit, addCockpitElsewhere } from "./cockpit.ts"
import { handlersOf } from "./handlers.ts"
import { describeRoutes } from "./openapi.ts"
import {
  type Bindings,
  BodyReader,
  type HttpEnv,
  readFacts,
  readQuery,
  requireAccess,
  validate,
} from "./read-request.ts"
import {
  busy,
  errorReply,
  internalError,
  isSmall,
  jsonReply,
  type Pacing,
  paceBody,
  ReplyRoom,
  SECURITY_HEADERS,
} from "./reply.ts"

/** The part of hubs that share a store in each call. */
interface SharedCalls {
  /** Why nobody is served now. */
  readonly refusal: HubError | undefined
  /** Tells the other hubs what they must know of at once. Gives the addresses of those that did not confirm it in time. */
  spread(route: string): Promise<readonly string[]>
  /** Passes a call on to the hub whose it is. Undefined: it is this one's. */
  readonly forwarding: { forward(call: Forwarded): Promise<Response | undefined> }
}

export interface HttpAppOptions {
  readonly core: HubCore
  readonly authority: Authority
  readonly logger: HubLogger
  readonly metrics: HubMetrics & { text(): Promise<string>; readonly contentType: string }
  readonly version: string
  /** Why the hub is not ready, in words; undefined when it is. */
  readonly notReady?: () => string | undefined
  /** The hubs that share the store. */
  readonly cluster?: SharedCalls | undefined
  /** Doors beyond the REST interface: they go through the same checks and into the same description. */
  readonly moreRoutes?: readonly Route[]
  /** Shared with the doors that stream beside the REST interface. */
  readonly replyRoom?: ReplyRoom
  /** A reader that takes nothing of a reply for so long is cut off. */
  readonly stallMs?: number
  /** Where the built cockpit is; without it a plain page stands in its place. */
  readonly cockpitDirectory?: string | undefined
}

export interface HttpApp {
  readonly hono: Hono<HttpEnv>
  /** For the description, and for tests that go through all of them. */
  readonly routes: readonly Route[]
}

/** The hub's HTTP face. It needs no port: what it is given is a request, what it returns is the reply. */
export function createHttpApp(options: HttpAppOptions): HttpApp {
  const { authority, replyRoom = new ReplyRoom(), stallMs, cluster } = options
  const routes = allRoutes(options)
  const bodies = new BodyReader()
  const hono = new Hono<HttpEnv>()
  hono.use(dressReplies(options))
  hono.use(admitOrigins(authority))
  hono.use(paceReplies(replyRoom, stallMs))
  if (options.cockpitDirectory !== undefined) addCockpit(hono, options.cockpitDirectory)
  for (const route of routes) {
    hono.on(route.method, route.path, (context) => call({ route, authority, bodies, replyRoom, cluster }, context))
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = allowedMethods(routes.filter((route) => route.path === path))
    hono.all(path, (context) => refuseMethod(context, authority, allow))
  }
  if (options.cockpitDirectory !== undefined) addCockpitElsewhere(hono, options.cockpitDirectory)
  // As a route: what hono itself does with an unknown path does not pass through the middleware on its way back.
  hono.all("*", (context) => refusePath(context, authority))
  hono.onError(replyToError(options))
  return { hono, routes }
}

function allRoutes(options: HttpAppOptions): readonly Route[] {
  const { core, authority, metrics, version, moreRoutes = [], notReady = () => undefined } = options
  let description: unknown
  // Made when first asked for: it takes a while, and most hubs are never asked.
  const openApi = () => (description ??= describeRoutes(routes, version))
  const routes: readonly Route[] = [
    ...routesOf(ROUTES, handlersOf({ core, authority, notReady, metrics, openApi })),
    ...moreRoutes,
  ]
  return routes
}

interface Serving {
  readonly route: Route
  readonly authority: Authority
  readonly bodies: BodyReader
  readonly replyRoom: ReplyRoom
  readonly cluster: SharedCalls | undefined
}

/** Who asks and whether they may comes first; only then is anything else of the request looked at. */
async function call(
  { route, authority, bodies, replyRoom, cluster }: Serving,
  context: Context<HttpEnv>,
): Promise<Response> {
  context.set("path", route.path)
  const facts = readFacts(context)
  const caller = requireAccess(context, authority, route.access)
  const refused = caller === null ? undefined : cluster?.refusal
  if (refused !== undefined) throw refused
  if (route.method === "GET" && caller !== null) replyRoom.check(caller.tokenId)
  const request = context.req.raw
  const query = route.query && validate(route.query, readQuery(request.url), "query")
  const given = route.body && (await readBody(bodies, request, route))
  const body = route.body && validate(route.body, given, "body")
  if (cluster !== undefined && caller !== null && context.env.caller === undefined) {
    const { method, path } = route
    const reply = await cluster.forwarding.forward({
      method,
      path,
      params: context.req.param(),
      body: given,
      caller,
      request,
    })
    if (reply !== undefined) return reply
  }
  const reserve = (bytes: number) => {
    const share = replyRoom.open(caller?.tokenId ?? "")
    context.set("share", share)
    if (!share.hold(bytes)) throw busy()
  }
  const reply = await route.handle({ facts, request, caller, query, body, params: context.req.param(), reserve })
  const late = cluster === undefined ? [] : await cluster.spread(`${route.method} ${route.path}`)
  if (late.length > 0) reply.headers.set("x-signalbox-unconfirmed", late.join(", "))
  return reply
}

async function readBody(bodies: BodyReader, request: Request, route: Route): Promise<unknown> {
  const body = await bodies.read(request, route.maxBodyBytes ?? SMALL_BODY_BYTES)
  if (body !== undefined) return body
  if (route.isBodyOptional === true) return {}
  throw new HubError("request/invalid", "The body is missing: send a JSON object")
}

function allowedMethods(routes: readonly Route[]): string {
  return routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ")
}

/** Below `/api`, what there is and what there is not is told only to those who may look. */
function requireLook(context: Context<HttpEnv>, authority: Authority): void {
  if (/^\/api(?:\/|$)/.test(context.req.path)) requireAccess(context, authority, "viewer")
}

function refuseMethod(context: Context<HttpEnv>, authority: Authority, allow: string): never {
  requireLook(context, authority)
  const message = `${context.req.method} is not possible here: use ${allow}`
  throw new HubError("route/method", message, { details: { allow } })
}

function refusePath(context: Context<HttpEnv>, authority: Authority): never {
  requireLook(context, authority)
  throw new HubError("route/unknown", "There is nothing here: GET /api/openapi.json lists what there is")
}

/** A call as it was made, for another hub. */
export interface Forwarded {
  readonly method: Method
  /** As in the table of routes. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  readonly caller: Caller
  readonly request: Request
}

/** Every call of a route comes with this. The app checked the caller, and body and query by the route's schemas. */
interface Call {
  readonly facts: RequestFacts
  readonly request: Request
  readonly caller: Caller | null
  readonly body: unknown
  readonly query: unknown
  /** The parts of the path, by their names in it. */
  readonly params: Readonly<Record<string, string>>
  /** Says how much of the reply the hub will hold at once. Throws `hub/busy` when there is no room for it. */
  readonly reserve: (bytes: number) => void
}

/** A line of the route table with the code that serves it. */
export interface Route extends RouteRule {
  readonly method: Method
  /** As in `/api/sessions/:id`. */
  readonly path: string
  handle(call: Call): Promise<Response>
}

interface HandlerCall<Name, Rule> extends Call {
  readonly caller: Rule extends { readonly access: Access } ? Caller : null
  readonly body: Rule extends { readonly body: infer Body } ? z.output<Body> : undefined
  readonly query: Rule extends { readonly query: infer Query } ? z.output<Query> : undefined
  readonly params: Readonly<Record<ParamsOf<Name>, string>>
}

type Reply<Rule> = Response | ReplyOf<Rule>

/** A handler returns the reply's JSON, or a whole reply. */
export type Handlers<Table extends RouteTable> = {
  readonly [Name in keyof Table]: (
    call: HandlerCall<Name, Table[Name]>,
  ) => Reply<Table[Name]> | Promise<Reply<Table[Name]>>
}

/** Joins a table with its handlers, whose types come from its schemas. */
export function routesOf<Table extends RouteTable>(table: Table, handlers: Handlers<Table>): Route[] {
  return Object.entries<RouteRule>(table).map(([name, rule]) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of a table's keys says so
    const [method, path] = name.split(" ") as [Method, string]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app validates each call with this rule's schemas
    const handle = handlers[name as keyof Table] as unknown as (call: Call) => unknown
    return {
      ...rule,
      method,
      path,
      async handle(call) {
        const value = await handle(call)
        return value instanceof Response ? value : jsonReply(rule.status ?? 200, value)
      },
    }
  })
}

interface Operations {
  readonly authority: Authority
  readonly logger: HubLogger
  readonly metrics: HubMetrics
}

/** Outermost: whatever the reply is, it gets its headers, is counted and is logged. */
function dressReplies({ authority, logger, metrics }: Operations): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const started = performance.now()
    await next()
    addSecurityHeaders(context.res.headers, authority)
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
function admitOrigins(authority: Authority): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    // Another hub has checked where it came from.
    if (context.env.caller !== undefined) return next()
    const verdict = authority.checkHostAndOrigin(readFacts(context))
    if (verdict.kind !== "allowed") return next()
    if (isPreflight(context.req.raw)) context.res = preflightReply(context.req.raw)
    else await next()
    addCorsHeaders(context.res.headers, verdict.origin)
  }
}

const STALL_MS = 30_000

/** A large reply is read no faster than its reader takes it, counts against its token meanwhile, and ends with a stall. */
function paceReplies(room: ReplyRoom, stallMs = STALL_MS): MiddlewareHandler<HttpEnv> {
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

function replyToError({ logger }: Operations): ErrorHandler<HttpEnv> {
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

/** A reply's own headers (a page's own policy, how long a file may be cached) stand. */
function addSecurityHeaders(headers: Headers, { exposure }: Authority): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  if (exposure.publicUrl?.protocol === "https:") headers.set("strict-transport-security", "max-age=31536000")
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"

function addCorsHeaders(headers: Headers, origin: string): void {
  headers.set("access-control-allow-origin", origin)
  headers.set("access-control-allow-credentials", "true")
  headers.set("access-control-expose-headers", "Retry-After, Allow")
  headers.append("vary", "Origin")
}

function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method")
}

/** A preflight bears no credential and reads nothing, so it is answered before anybody is asked who they are. */
function preflightReply(request: Request): Response {
  const headers = new Headers({
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": "Authorization, Content-Type, Last-Event-ID",
    "access-control-max-age": "600",
  })
  if (request.headers.has("access-control-request-private-network")) {
    headers.set("access-control-allow-private-network", "true")
  }
  return new Response(null, { status: 204, headers })
}
