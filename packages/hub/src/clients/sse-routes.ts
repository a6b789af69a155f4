import { z } from "zod"
import { LARGE_BODY_BYTES, type Route, route } from "../http/route.ts"
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

/** Where an official client's `sse` option reads a session's events and posts its own. */
export function sseRoutes(door: SseDoor): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/code/sessions/:id/events/stream",
      access: "viewer",
      summary: "A session's events for an official client's sse option, from Last-Event-ID on",
      query: ClientQuery,
      reply: { status: 200, description: "The stream", contentType: "text/event-stream" },
      handle: ({ request, caller, query, param }) =>
        door.open(request, caller, { id: param("id"), client: query.client }),
    }),
    route({
      method: "POST",
      path: "/v1/code/sessions/:id/events",
      access: "viewer",
      summary: "What an official client's sse option sends to a session",
      query: ClientQuery,
      body: { schema: EventsBody, maxBytes: LARGE_BODY_BYTES },
      reply: { status: 200, description: "It is safe; what came of it is told in the stream", schema: EventsReply },
      async handle({ caller, query, body, param }) {
        const payloads = body.events.map(({ payload }) => payload)
        return { accepted: await door.take(payloads, caller, { id: param("id"), client: query.client }) }
      },
    }),
  ]
}
