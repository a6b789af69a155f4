import { z } from "zod"
import { Id, Moment, numberInQuery, Seq, WireObject } from "./fields.ts"

const STATES = ["pending", "allowed", "denied", "expired", "cancelled", "superseded", "orphaned"] as const

export const Ask = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    seq: Seq,
    kind: z.enum(["tool", "question", "plan", "elicitation", "dialog"]),
    state: z.enum(STATES),
    requestId: z.string(),
    request: WireObject.meta({ description: "the wire's request" }),
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
    rule: z.string().exactOptional(),
    answer: WireObject.exactOptional(),
    deliveredAt: Moment.exactOptional(),
  })
  .meta({ id: "Ask" })

export const AskList = z.object({ asks: z.array(Ask), more: z.boolean() })

export const AskListQuery = z.strictObject({
  state: z.enum(STATES).exactOptional(),
  session: Id.exactOptional(),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  limit: numberInQuery({ min: 1, max: 1_000 }).default(1_000),
})

const how = { inputHash: z.string().max(200).exactOptional(), answerId: Id.exactOptional() }

const Allow = z.strictObject({
  behavior: z.literal("allow"),
  updatedInput: WireObject.exactOptional(),
  updatedPermissions: z.array(WireObject).max(1_000).exactOptional(),
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

export const ExtendBody = z
  .strictObject({ expiresAt: z.iso.datetime({ offset: true }).exactOptional() })
  .meta({ id: "Extension", description: "`expiresAt` as it was seen: put off since then, it is not put off again" })

export const AnswerBody = z
  .union([Allow, Deny, Elicited, Completed, Cancelled], {
    error:
      'expected {"behavior":"allow"} or {"behavior":"deny"}, for an elicitation {"action":"accept"|"decline"|"cancel"}, for a dialog {"result":…} or {"cancelled":true}',
  })
  .meta({ id: "Answer" })
