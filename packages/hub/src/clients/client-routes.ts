import type { NewSession, RouteTable } from "@signalbox/protocol/hub-api"
import { LARGE_BODY_BYTES } from "@signalbox/protocol/hub-api/schemas"
import { z } from "zod"
import type { Authority } from "../auth/authority.ts"
import { launchRefusal } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { type Route, routesOf } from "../http/app.ts"
import type { HubCore } from "../hub-core.ts"
import type { Caller } from "../model/access.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { SseDoor } from "./sse-door.ts"

const MAX_EVENTS = 100

const ClientQuery = z.looseObject({
  client: z
    .string()
    .regex(/^[\w.-]{1,100}$/, "letters, digits, '.', '_' and '-', at most 100")
    .optional(),
})
const EventsBody = z.looseObject({ events: z.array(z.looseObject({ payload: z.unknown() })).max(MAX_EVENTS) })
const EventsReply = z.object({ accepted: z.number() })

const SSE_ROUTES = {
  "GET /v1/code/sessions/:id/events/stream": {
    access: "viewer",
    summary: "A session's events for an official client's sse option, from Last-Event-ID on",
    query: ClientQuery,
    replies: "The stream",
    contentType: "text/event-stream",
  },
  "POST /v1/code/sessions/:id/events": {
    access: "viewer",
    summary: "What an official client's sse option sends to a session",
    query: ClientQuery,
    body: EventsBody,
    maxBodyBytes: LARGE_BODY_BYTES,
    reply: EventsReply,
    replies: "It is safe; what came of it is told in the stream",
  },
} as const satisfies RouteTable

/** Where an official client's `sse` option reads a session's events and posts its own. */
export function sseRoutes(door: SseDoor): readonly Route[] {
  return routesOf(SSE_ROUTES, {
    "GET /v1/code/sessions/:id/events/stream": ({ request, caller, query, params }) =>
      door.open(request, caller, { id: params.id, client: query.client }),
    async "POST /v1/code/sessions/:id/events"({ caller, query, body, params }) {
      const payloads = body.events.map(({ payload }) => payload)
      return { accepted: await door.take(payloads, caller, { id: params.id, client: query.client }) }
    },
  })
}

export interface DirectConnectOptions {
  readonly registry: SessionRegistry
  readonly core: HubCore
  readonly authority: Authority
}

const ConnectBody = z.looseObject({
  cwd: z.string().max(4096).optional(),
  session_key: z.string().max(256).optional(),
  permission_mode: z.string().max(64).optional(),
})
const ConnectReply = z.object({
  session_id: z.string(),
  ws_url: z.string(),
  work_dir: z.string().optional(),
  session_key: z.string().optional(),
})
type ConnectBody = z.infer<typeof ConnectBody>

const CONNECT_ROUTES = {
  "POST /sessions": {
    access: "operator",
    summary: "DirectConnect: attach to the session that session_key names, or launch one",
    body: ConnectBody,
    isBodyOptional: true,
    reply: ConnectReply,
    replies: "Where to connect",
  },
  "DELETE /sessions/:id": {
    access: "operator",
    summary: "DirectConnect: stop the session's agent, keep its history",
    reply: z.object({ session_id: z.string() }),
    replies: "It has ended",
  },
} as const satisfies RouteTable

/** The routes of the official `DirectConnectTransport`, over the same door for sockets as all raw clients. */
export function directConnectRoutes({ registry, core, authority }: DirectConnectOptions): readonly Route[] {
  return routesOf(CONNECT_ROUTES, {
    async "POST /sessions"({ body, caller, facts }) {
      const session = (await named(registry, body.session_key)) ?? (await launch(core, registry, body, caller))
      const { cwd } = session.record
      return {
        session_id: session.id,
        ws_url: `${socketOrigin(authority, facts.header("host") ?? "")}/ws/session/${session.id}`,
        ...(cwd === null ? {} : { work_dir: cwd }),
        ...(body.session_key === undefined ? {} : { session_key: body.session_key }),
      }
    },
    async "DELETE /sessions/:id"({ caller, params }) {
      const { id } = await core.endSession(params.id, caller)
      return { session_id: id }
    },
  })
}

/** Ours, the CLI's own, or the key that a session was made with. */
async function named(registry: SessionRegistry, key: string | undefined): Promise<LiveSession | undefined> {
  if (key === undefined) return undefined
  return (await registry.newestOf(key)) ?? (await registry.byRequestKey(key)) ?? registry.byAgentId(key)
}

async function launch(
  core: HubCore,
  registry: SessionRegistry,
  body: ConnectBody,
  caller: Caller,
): Promise<LiveSession> {
  const request: NewSession = {
    ...(body.cwd === undefined ? {} : { cwd: body.cwd }),
    ...(body.permission_mode === undefined ? {} : { permissionMode: body.permission_mode }),
    ...(body.session_key === undefined ? {} : { requestKey: body.session_key }),
  }
  const refusal = launchRefusal(caller.role, request, core.settings.settings)
  if (refusal !== undefined) throw new HubError("auth/forbidden", refusal)
  return registry.get((await core.createSession(request, caller)).id)
}

/** The hub as this caller reaches it; its Host was checked to be one of the hub's. */
function socketOrigin({ exposure }: Authority, host: string): string {
  const isSecure = exposure.publicUrl?.protocol === "https:" && exposure.publicUrl.host === host.toLowerCase()
  return `${isSecure ? "wss" : "ws"}://${host}`
}
