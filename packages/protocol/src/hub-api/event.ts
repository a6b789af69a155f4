import { z } from "zod"
import { Id, Moment, numberInQuery, Seq, WireObject } from "./fields.ts"

const Event = z
  .object({
    seq: z.int().positive(),
    at: Moment,
    from: z.enum(["agent", "client", "hub"]),
    by: z.string().exactOptional(),
    message: WireObject.meta({ description: "the wire object, untouched" }),
  })
  .meta({ id: "Event" })

export const EventList = z.object({ events: z.array(Event), firstSeq: Seq, lastSeq: Seq, more: z.boolean() })

const seqInQuery = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })

export const EventListQuery = z
  .strictObject({
    after: seqInQuery.exactOptional(),
    before: seqInQuery.exactOptional(),
    around: seqInQuery.exactOptional(),
    limit: numberInQuery({ min: 1, max: 5_000 }).default(500),
  })
  .refine(({ after, before, around }) => [after, before, around].filter((seq) => seq !== undefined).length < 2, {
    error: "give one of after, before and around, not several",
  })

export const Outline = z.object({
  marks: z.array(
    z.object({ seq: Seq, kind: z.enum(["prompt", "ask", "error", "compaction", "result"]), label: z.string() }),
  ),
})

const SEARCH_FIELDS = ["text", "thinking", "input", "result", "title"] as const
const SearchFields = z
  .string()
  .max(100)
  .transform((text) => text.split(","))
  .pipe(z.array(z.enum(SEARCH_FIELDS, { error: `expected some of ${SEARCH_FIELDS.join(", ")}, with commas` })))

export const SearchQuery = z.strictObject({
  q: z.string({ error: "say what to look for" }).min(1).max(500),
  session: Id.exactOptional(),
  runner: Id.exactOptional(),
  in: SearchFields.exactOptional(),
  from: Moment.exactOptional(),
  to: Moment.exactOptional(),
  limit: numberInQuery({ min: 1, max: 200 }).default(50),
})

export const SearchReply = z.object({
  hits: z.array(z.object({ session: z.string(), seq: Seq, at: Moment, field: z.string(), snippet: z.string() })),
  more: z.boolean(),
  indexedTo: Seq,
  indexedAt: Moment,
})
