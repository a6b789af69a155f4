import { z } from "zod"
import type { Envelope } from "../envelope.ts"
import { Id, Moment, numberInQuery, Seq, type Told, WireObject } from "./fields.ts"
import type { RouteTable } from "./route-table.ts"

const Message = WireObject.meta({ description: "the wire object, untouched" })

const HubEvent = z
  .object({
    /** Dense within its session, from 1. */
    seq: z.int().positive(),
    at: Moment,
    /** The agent's line, a client's message to it, or a note of the hub's own. */
    from: z.enum(["agent", "client", "hub"]),
    /** The name of a person's or program's token. */
    by: z.string().exactOptional(),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the log holds only objects with a type
    message: Message as unknown as z.ZodType<Envelope>,
  })
  .meta({ id: "Event" })
export type HubEvent = Told<z.output<typeof HubEvent>>

const EventPage = z.object({ events: z.array(HubEvent), firstSeq: Seq, lastSeq: Seq, more: z.boolean() })
export type EventPage = Told<z.output<typeof EventPage>>

const seqInQuery = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })

const EventQuery = z
  .strictObject({
    after: seqInQuery.exactOptional(),
    before: seqInQuery.exactOptional(),
    around: seqInQuery.exactOptional(),
    limit: numberInQuery({ min: 1, max: 5_000 }).default(500),
  })
  .refine(({ after, before, around }) => [after, before, around].filter((seq) => seq !== undefined).length < 2, {
    error: "give one of after, before and around, not several",
  })
export type EventQuery = Told<z.output<typeof EventQuery>>

const OutlineMark = z.object({
  seq: Seq,
  kind: z.enum(["prompt", "ask", "error", "compaction", "result"]),
  label: z.string(),
})
export type OutlineMark = Told<z.output<typeof OutlineMark>>

const SEARCH_FIELDS = ["text", "thinking", "input", "result", "title"] as const
const SearchFields = z
  .string()
  .max(100)
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(SEARCH_FIELDS, { error: `expected some of ${SEARCH_FIELDS.join(", ")}, with commas` })))

const SearchQuery = z.strictObject({
  q: z.string({ error: "say what to look for" }).min(1).max(500),
  session: Id.exactOptional(),
  /** Only sessions of the runner with this id. */
  runner: Id.exactOptional(),
  /** Only these: what was said, thought, given to tools, given back, or a session's title. */
  in: SearchFields.exactOptional(),
  /** The first moment that counts. */
  from: Moment.exactOptional(),
  to: Moment.exactOptional(),
  limit: numberInQuery({ min: 1, max: 200 }).default(50),
})
export type SearchQuery = Told<z.output<typeof SearchQuery>>

const SearchHit = z.object({ session: z.string(), seq: Seq, at: Moment, field: z.string(), snippet: z.string() })
export type SearchHit = Told<z.output<typeof SearchHit>>

const SearchReply = z.object({
  hits: z.array(SearchHit),
  /** There may be more, older ones. */
  more: z.boolean(),
  indexedTo: Seq,
  /** Everything up to that moment can be found. */
  indexedAt: Moment,
})
export type SearchReply = Told<z.output<typeof SearchReply>>

export const eventRoutes = {
  "GET /api/sessions/:id/events": {
    access: "viewer",
    summary: "Events of a session in their order: after a seq, before one, or around one",
    query: EventQuery,
    reply: EventPage,
    replies: "a page of events; firstSeq and lastSeq are the log's",
  },
  "GET /api/sessions/:id/outline": {
    access: "viewer",
    summary: "The landmarks of the whole session",
    reply: z.object({ marks: z.array(OutlineMark) }),
    replies: "prompts, asks, errors, compactions, results",
  },
  "GET /api/search": {
    access: "viewer",
    summary: "Search messages, inputs, results and titles; `in` names some of them, with commas",
    query: SearchQuery,
    reply: SearchReply,
    replies: "what was found",
  },
} as const satisfies RouteTable
