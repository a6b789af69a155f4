import { z } from "zod"
import { AnyObject, Id, Moment, numberInQuery, Seq, type Told, WireObject } from "./fields.ts"
import { Why } from "./policy.ts"
import { LARGE_BODY_BYTES, type RouteTable } from "./route-table.ts"

const AskState = z.enum(["pending", "allowed", "denied", "expired", "cancelled", "superseded", "orphaned"])
export type AskState = z.output<typeof AskState>

const Ask = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    /** The event that holds the request. */
    seq: Seq,
    kind: z.enum(["tool", "question", "plan", "elicitation", "dialog"]),
    state: AskState,
    requestId: z.string(),
    request: WireObject.meta({ description: "the wire's request" }),
    /** Sent back with an answer, so that the answer is to what a person saw. */
    inputHash: z.string(),
    toolName: z.string().exactOptional(),
    input: WireObject.exactOptional(),
    suggestions: z.array(z.unknown()).exactOptional(),
    skippable: z
      .boolean()
      .exactOptional()
      .meta({ description: "the agent takes `annotations` with `unanswered` for questions that were skipped" }),
    askedAt: Moment,
    expiresAt: Moment.exactOptional(),
    extension: z
      .object({ byMs: z.number(), left: z.number() })
      .exactOptional()
      .meta({ description: "of one that expires: by how much and how often that may still be put off" }),
    settledAt: Moment.exactOptional(),
    settledBy: z.string().exactOptional(),
    via: z.enum(["person", "policy", "timeout", "agent", "hub"]).exactOptional(),
    /** The rule that settled it, or that made it an ask. */
    rule: z.string().exactOptional(),
    reason: z.string().exactOptional().meta({
      description: "what the rules said to it when it was asked, in a sentence; none if there were no rules",
    }),
    why: Why.exactOptional(),
    fourEyes: z
      .literal(true)
      .exactOptional()
      .meta({ description: "only somebody else than the one who started the session may allow it" }),
    answer: WireObject.exactOptional(),
    /** When the answer was on the wire. */
    deliveredAt: Moment.exactOptional(),
    purged: z.literal(true).exactOptional().meta({
      description: "its session was purged: what it asked and how it was answered in words is gone",
    }),
  })
  .meta({ id: "Ask" })
export type Ask = Told<z.output<typeof Ask>>

const AskPage = z.object({ asks: z.array(Ask), more: z.boolean() })
export type AskPage = Told<z.output<typeof AskPage>>

const AskQuery = z.strictObject({
  state: AskState.exactOptional(),
  session: Id.exactOptional(),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  limit: numberInQuery({ min: 1, max: 1_000 }).default(1_000),
})

const how = {
  /** Sent along, it refuses an answer to something other than what was seen. */
  inputHash: z.string().max(200).exactOptional(),
  /** The same id again is the same answer. */
  answerId: Id.exactOptional(),
}

const Allow = z.strictObject({
  behavior: z.literal("allow"),
  /** The ask's own input when it is left out. */
  updatedInput: WireObject.exactOptional(),
  updatedPermissions: z.array(AnyObject).max(1_000).exactOptional(),
  ...how,
})
const Deny = z.strictObject({
  behavior: z.literal("deny"),
  message: z.string().max(100_000).exactOptional(),
  interrupt: z.boolean().exactOptional(),
  ...how,
})
const Elicited = z.strictObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: WireObject.exactOptional(),
  ...how,
})
const Completed = z
  .strictObject({ result: z.unknown(), ...how })
  .refine((body) => "result" in body, { error: "expected a result" })
const Cancelled = z.strictObject({ cancelled: z.literal(true), ...how })

type Bare<Schema extends z.ZodType> = Told<Omit<z.output<Schema>, keyof typeof how>>

/** To a tool, a question or a plan. */
export type ToolAnswer = Bare<typeof Allow> | Bare<typeof Deny>
export type ElicitationAnswer = Bare<typeof Elicited>
export type DialogAnswer = Bare<typeof Completed> | Bare<typeof Cancelled>

const AskAnswer = z
  .union([Allow, Deny, Elicited, Completed, Cancelled], {
    error:
      'expected {"behavior":"allow"} or {"behavior":"deny"}, for an elicitation {"action":"accept"|"decline"|"cancel"}, for a dialog {"result":…} or {"cancelled":true}',
  })
  .meta({ id: "Answer" })
export type AskAnswer = Told<z.output<typeof AskAnswer>>

const Extension = z
  .strictObject({ expiresAt: z.iso.datetime({ offset: true }).exactOptional() })
  .meta({ id: "Extension", description: "`expiresAt` as it was seen: put off since then, it is not put off again" })

export const askRoutes = {
  "GET /api/asks": {
    access: "viewer",
    summary: "Asks, of one state or one session if so asked",
    query: AskQuery,
    reply: AskPage,
    replies: "the asks",
  },
  "GET /api/asks/:id": { access: "viewer", summary: "One ask", reply: Ask, replies: "the ask" },
  "POST /api/asks/:id/answer": {
    access: "operator",
    summary: "Answer an ask; the first valid answer wins",
    body: AskAnswer,
    maxBodyBytes: LARGE_BODY_BYTES,
    reply: Ask,
    replies: "the ask as it was settled",
  },
  "POST /api/asks/:id/extend": {
    access: "operator",
    summary: "Give an ask that expires more time: as long again as its rule gave it, as often as the rule allows",
    body: Extension,
    isBodyOptional: true,
    reply: Ask,
    replies: "the ask with its later end",
  },
} as const satisfies RouteTable
