import { ROUTES, SMALL_BODY_BYTES } from "@signalbox/protocol/hub-api/schemas"
import { type Context, Hono } from "hono"
import type { Authority } from "../auth/authority.ts"
import type { HubCore } from "../core.ts"
import { HubError } from "../errors.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { HubLogger } from "../operations/logger.ts"
import { addCockpit, addCockpitElsewhere } from "./cockpit.ts"
import { handlersOf } from "./handlers.ts"
import { admitOrigins, dressReplies, paceReplies, replyToError } from "./middleware.ts"
import { describeRoutes } from "./openapi.ts"
import { BodyReader, readQuery, validate } from "./read-request.ts"
import { busy, ReplyRoom } from "./reply-room.ts"
import { type HttpEnv, readFacts, requireAccess } from "./request-context.ts"
import { type Route, routesOf } from "./route.ts"

export interface HttpAppOptions {
  readonly core: HubCore
  readonly authority: Authority
  readonly logger: HubLogger
  readonly metrics: HubMetrics & { text(): Promise<string>; readonly contentType: string }
  readonly version: string
  /** Why the hub is not ready, in words; undefined when it is. */
  readonly notReady?: () => string | undefined
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
  const { authority, replyRoom = new ReplyRoom(), stallMs } = options
  const routes = allRoutes(options)
  const bodies = new BodyReader()
  const hono = new Hono<HttpEnv>()
  hono.use(dressReplies(options))
  hono.use(admitOrigins(authority))
  hono.use(paceReplies(replyRoom, stallMs))
  if (options.cockpitDirectory !== undefined) addCockpit(hono, options.cockpitDirectory)
  for (const route of routes) {
    hono.on(route.method, route.path, (context) => call({ route, authority, bodies, replyRoom }, context))
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
}

/** Who asks and whether they may comes first; only then is anything else of the request looked at. */
async function call({ route, authority, bodies, replyRoom }: Serving, context: Context<HttpEnv>): Promise<Response> {
  context.set("path", route.path)
  const facts = readFacts(context)
  const caller = requireAccess(context, authority, route.access)
  if (route.method === "GET" && caller !== null) replyRoom.check(caller.tokenId)
  const request = context.req.raw
  const query = route.query && validate(route.query, readQuery(request.url), "query")
  const body = route.body && validate(route.body, await readBody(bodies, request, route), "body")
  const reserve = (bytes: number) => {
    const share = replyRoom.open(caller?.tokenId ?? "")
    context.set("share", share)
    if (!share.hold(bytes)) throw busy()
  }
  return route.handle({ facts, request, caller, query, body, params: context.req.param(), reserve })
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
