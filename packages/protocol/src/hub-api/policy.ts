import { z } from "zod"
import { Id, Moment, numberInQuery, WireObject } from "./fields.ts"

/** Its rules are the policy's own to check: only that it is an object is said here. */
export const Policy = WireObject.meta({ id: "Policy", description: "The rules in force, and the relay's switch." })

export const PolicyInForce = z
  .looseObject({
    rules: z.array(WireObject),
    relayAutoApproval: z.boolean(),
    sees: z
      .object({ judged: z.string(), notJudged: z.array(z.string()) })
      .meta({ description: "What the rules are tried on, and what never reaches them. Ignored in a PUT." }),
  })
  .meta({ id: "PolicyInForce", description: "The policy, and what it can judge." })

const Grant = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    askId: z.string(),
    grantedBy: z.string(),
    grantedAt: Moment,
    where: z.enum(["hub", "userSettings", "projectSettings", "localSettings", "session", "cliArg"]),
    machine: z.string().nullable(),
    update: WireObject,
    revokedAt: Moment.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: "Grant" })

export const GrantList = z.object({ grants: z.array(Grant), more: z.boolean() })
export const GrantListQuery = z.strictObject({ session: Id.exactOptional() })
export const GrantRevoked = z.object({
  grant: Grant,
  gone: z.boolean().meta({ description: "false: only noted, because the CLI cannot take it back" }),
})

const AuditRecord = z
  .object({
    id: z.int(),
    at: Moment,
    what: z.string(),
    by: z.string().nullable(),
    via: z.string().nullable(),
    sessionId: z.string().nullable(),
    askId: z.string().nullable(),
    details: WireObject,
  })
  .meta({ id: "AuditRecord" })

export const AuditList = z.object({ records: z.array(AuditRecord), more: z.boolean() })
export const AuditListQuery = z.strictObject({
  session: Id.exactOptional(),
  after: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0),
  limit: numberInQuery({ min: 1, max: 1_000 }).default(200),
})
