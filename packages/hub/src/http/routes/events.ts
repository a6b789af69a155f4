import { EventList, EventListQuery, Outline, SearchQuery, SearchReply } from "@signalbox/protocol/hub-api/schemas"
import type { HubCore } from "../../core.ts"
import { eventPageJson } from "../event-page-json.ts"
import { AHEAD_BYTES } from "../paced-body.ts"
import { streamReply } from "../reply.ts"
import { type Route, route } from "../route.ts"

export function eventRoutes(core: HubCore): Route[] {
  return [
    route({
      method: "GET",
      path: "/api/sessions/:id/events",
      access: "viewer",
      summary: "Events of a session in their order: after a seq, before one, or around one",
      query: EventListQuery,
      reply: { status: 200, description: "a page of events; firstSeq and lastSeq are the log's", schema: EventList },
      async handle({ param, query, reserve }) {
        const fromStart = query.before === undefined && query.around === undefined && query.after === undefined
        const wanted = fromStart ? { ...query, after: 0 } : query
        const page = await core.readEvents(param("id"), wanted)
        reserve(page.largestPieceBytes + AHEAD_BYTES)
        return streamReply(200, eventPageJson(page))
      },
    }),
    route({
      method: "GET",
      path: "/api/sessions/:id/outline",
      access: "viewer",
      summary: "The landmarks of the whole session",
      reply: { status: 200, description: "prompts, asks, errors, compactions, results", schema: Outline },
      handle: async ({ param }) => ({ marks: await core.outline(param("id")) }),
    }),
    route({
      method: "GET",
      path: "/api/search",
      access: "viewer",
      summary: "Search messages, inputs, results and titles; `in` names some of them, with commas",
      query: SearchQuery,
      reply: { status: 200, description: "what was found", schema: SearchReply },
      handle: ({ query: { in: fields, ...query } }) =>
        core.search({ ...query, ...(fields === undefined ? {} : { fields }) }),
    }),
  ]
}
