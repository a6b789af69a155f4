import type { RouteTable } from "@signalbox/protocol/hub-api"
import { LARGE_BODY_BYTES } from "@signalbox/protocol/hub-api/schemas"
import { z } from "zod"
import { type Route, routesOf } from "../http/route.ts"
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
