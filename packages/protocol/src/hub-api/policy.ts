import { z } from "zod"
import { flagInQuery, Id, Moment, numberInQuery, Since, type Told, WireObject } from "./fields.ts"
import { Enforce } from "./launch.ts"
import { Retention } from "./retention.ts"
import { BODY_BYTES, type RouteTable } from "./route-table.ts"

/** Its rules are the policy's own to check: only that it is an object is said here. */
export const Policy = WireObject.meta({ id: "Policy", description: "The rules in force, and the relay's switch." })

const PolicyInForce = z
  .looseObject({
    rules: z.array(WireObject),
    relayAutoApproval: z.boolean(),
    enforce: Enforce.meta({
      description:
        "`everything`: agents that are started from now on are told to wait for the policy before each tool call.",
    }),
    sees: z
      .object({ judged: z.string(), notJudged: z.array(z.string()) })
      .meta({ description: "What the rules are tried on, and what never reaches them. Ignored in a PUT." }),
    version: z.int().meta({ description: "Its number; 0: none was ever put. Ignored in the body of a PUT." }),
  })
  .meta({ id: "PolicyInForce", description: "The policy, and what it can judge." })
export type PolicyInForce = Told<z.output<typeof PolicyInForce>>

const Span = z.object({ start: z.int(), end: z.int() })

export const Why = z
  .object({
    rules: z
      .array(
        z.object({
          id: z.string(),
          place: z
            .int()
            .exactOptional()
            .meta({ description: "Its number in the policy, from 1; none if a grant of the session became this rule" }),
          span: Span.exactOptional().meta({ description: "What it decided about, in the text of `field`" }),
        }),
      )
      .meta({
        description: "The first one decided; several, if each allows a part of a command. None had a say if empty",
      }),
    field: z.string().exactOptional().meta({ description: "The field of the tool's input that decided, if one did" }),
    span: Span.exactOptional().meta({ description: "The part of that field that decided" }),
    text: z.string().exactOptional().meta({ description: "The text of that part, shortened if it is long" }),
    change: z.string().meta({ description: "What would have to change for another verdict: a sentence" }),
  })
  .meta({
    id: "Why",
    description: "Why a verdict is what it is. Places are those of the policy in force at that time.",
  })
export type Why = Told<z.output<typeof Why>>

const Grant = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    askId: z.string(),
    grantedBy: z.string(),
    grantedAt: Moment,
    /** "hub": a rule of ours for that session, truly revocable. Otherwise where the CLI keeps it. */
    where: z.enum(["hub", "userSettings", "projectSettings", "localSettings", "session", "cliArg"]),
    machine: z.string().nullable(),
    update: WireObject,
    revokedAt: Moment.nullable(),
    revokedBy: z.string().nullable(),
  })
  .meta({ id: "Grant" })
/** A standing permission that somebody gave while answering an ask. */
export type Grant = Told<z.output<typeof Grant>>

const GrantRevoked = z.object({
  grant: Grant,
  gone: z.boolean().meta({ description: "false: only noted, because the CLI cannot take it back" }),
})
export type GrantRevoked = Told<z.output<typeof GrantRevoked>>

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
/** Each settled ask, each grant and its end, each change of policy or tokens leaves one. */
export type AuditRecord = Told<z.output<typeof AuditRecord>>

const auditId = numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })
const AuditQuery = z.strictObject({
  session: Id.exactOptional(),
  by: Id.exactOptional(),
  rule: Id.exactOptional(),
  tool: Id.max(256).exactOptional(),
  runner: Id.exactOptional(),
  what: Id.exactOptional().meta({
    description: "The outcome: `ask/allowed`, `ask/denied`, `policy/changed` and so on",
  }),
  since: Since.exactOptional(),
  after: auditId.default(0),
  before: auditId.exactOptional(),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  limit: numberInQuery({ min: 1, max: 1_000 }).default(200),
})
export type AuditQuery = Told<z.output<typeof AuditQuery>>

const settings = {
  operatorsMayUseAuto: z.boolean().meta({
    description: "Operators may choose the permission mode `auto`, in which nobody is asked. Default: false.",
  }),
  retention: Retention.nullable().meta({
    description: "Old sessions that the hub purges by itself. Default: null, nothing is ever purged by itself.",
  }),
}
const HubSettings = z.object(settings).meta({ id: "Settings" })
/** An admin's choices for the whole hub. */
export type HubSettings = Told<z.output<typeof HubSettings>>

const NewSettings = z
  .strictObject({
    operatorsMayUseAuto: settings.operatorsMayUseAuto.exactOptional(),
    retention: settings.retention.exactOptional(),
  })
  .meta({ id: "NewSettings", description: "What is left out has its default." })

export const policyRoutes = {
  "GET /api/policy": {
    access: "viewer",
    summary: "The rules in force",
    reply: PolicyInForce,
    replies: "the policy, and what it can judge",
  },
  "PUT /api/policy": {
    access: "admin",
    summary: "Replace the rules in force; refused if they allow what a person denied, unless forced",
    query: z.strictObject({
      force: flagInQuery.default(false),
      version: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER })
        .exactOptional()
        .meta({ description: "Only in place of this version: if another is in force, 409 `policy/changed`" }),
    }),
    body: Policy,
    maxBodyBytes: BODY_BYTES,
    reply: PolicyInForce,
    replies: "the policy, and what it can judge",
  },
  "GET /api/grants": {
    access: "viewer",
    summary: "Standing permissions",
    query: z.strictObject({ session: Id.exactOptional() }),
    reply: z.object({ grants: z.array(Grant), more: z.boolean() }),
    replies: "the grants",
  },
  "DELETE /api/grants/:id": {
    access: "operator",
    summary: "Revoke a standing permission",
    reply: GrantRevoked,
    replies: "the grant, and whether it is gone or only noted",
  },
  "GET /api/audit": {
    access: "viewer",
    summary: "Who or what decided, when, and why",
    query: AuditQuery,
    reply: z.object({ records: z.array(AuditRecord), more: z.boolean() }),
    replies: "audit records in their order",
  },
  "GET /api/settings": {
    access: "viewer",
    summary: "The settings in force",
    reply: HubSettings,
    replies: "the settings",
  },
  "PUT /api/settings": {
    access: "admin",
    summary: "Replace the settings; a field that is left out gets its default",
    body: NewSettings,
    reply: HubSettings,
    replies: "the settings",
  },
} as const satisfies RouteTable
