import { z } from "zod"
import { Moment, numberInQuery, Seq, Since, type Told, WireObject } from "./fields.ts"
import { Policy, Why } from "./policy.ts"
import { BODY_BYTES, type RouteTable, SMALL_BODY_BYTES } from "./route-table.ts"

const Effect = z.enum(["allow", "deny", "ask"])

const Example = z.object({
  session: z.string(),
  seq: Seq,
  ask: z.string().exactOptional().meta({ description: "Left out for a tool call that nobody was asked about" }),
  at: Moment,
  tool: z.string(),
  text: z.string().meta({ description: "The beginning of what it would do" }),
  was: Effect,
  would: Effect,
  rule: z.string().nullable().meta({ description: "The rule that would decide; null: none covers it" }),
  span: z.unknown().exactOptional(),
  by: z.string().exactOptional().meta({ description: "Who answered it, if a person did" }),
})
/** A recorded request on which two policies differ. */
export type BacktestExample = Told<z.output<typeof Example>>

const Difference = z.object({ count: z.int(), examples: z.array(Example) })
export type BacktestDifference = Told<z.output<typeof Difference>>

const differences = {
  noLongerAsked: Difference.meta({ description: "Allowed from now on, or left to Claude Code, and not before" }),
  newlyAsked: Difference,
  newlyDenied: Difference,
  contradicts: Difference.meta({ description: "Allowed from now on, although a person denied it" }),
}

const Backtest = z
  .object({
    requests: z.int().meta({ description: "How many were judged, with tool calls that nobody was asked about" }),
    notTestable: z.int().meta({ description: "How many cannot be judged, because their input is gone or too long" }),
    ...differences,
    since: Moment.nullable().meta({ description: "When the oldest one was made; null: there was none" }),
    complete: z.boolean().meta({ description: "false: it took too long; older requests were not judged" }),
  })
  .meta({ id: "PolicyTest" })
/** The decisions of a policy on the requests of the past. */
export type Backtest = Told<z.output<typeof Backtest>>

const NewBacktest = z.strictObject({
  policy: Policy,
  since: Since.exactOptional(),
  limit: z.int().min(0).max(200).default(20).meta({ description: "Examples in each list" }),
})

const Progress = z.object({ judged: z.int(), total: z.int() })
/** Lines of a test whose caller accepts `application/x-ndjson`: how far it is, several times, then the result or an error. */
export type BacktestLine =
  | { readonly progress: Told<z.output<typeof Progress>> }
  | { readonly result: Backtest }
  | { readonly error: { readonly code: string; readonly message: string } }

const Explain = z.strictObject({
  policy: Policy.exactOptional(),
  request: z.strictObject({
    tool: z.string().min(1).max(256),
    input: WireObject,
    session: z.string().max(256).exactOptional(),
    cwd: z.string().max(4096).exactOptional(),
    mode: z.string().max(64).exactOptional(),
    runner: z.string().max(256).exactOptional(),
    branch: z.string().max(1024).exactOptional(),
  }),
})

const Explained = z
  .looseObject({
    effect: Effect,
    rule: z.string().exactOptional(),
    reason: z.string(),
    why: Why.exactOptional(),
    span: z.unknown().exactOptional(),
    path: z.unknown().exactOptional(),
    message: z.string().exactOptional().meta({ description: "What a deny rule tells the agent" }),
  })
  .meta({ id: "Verdict" })
export type PolicyVerdict = Told<z.output<typeof Explained>>

const Suggestion = z.object({
  rule: WireObject.meta({ description: "A rule as narrow as what was allowed" }),
  allowed: z.int().meta({ description: "How often people allowed what it covers" }),
  sessions: z.int(),
  people: z.array(z.string()),
  lastAt: Moment,
  test: z.object({ requests: z.int(), ...differences }),
})
export type PolicySuggestion = Told<z.output<typeof Suggestion>>

const Suggestions = z.object({
  suggestions: z.array(Suggestion),
  decided: z
    .array(z.object({ rule: z.string(), count: z.int(), lastAt: Moment }))
    .meta({ description: "How many of the recorded requests each rule in force decides" }),
  idle: z.array(z.object({ rule: z.string(), why: z.enum(["expired", "unused"]) })),
  requests: z.int(),
  notTestable: z.int(),
  complete: z.boolean(),
})
/** Rules that the past suggests, and what those in force are good for. */
export type PolicySuggestions = Told<z.output<typeof Suggestions>>

const Changes = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  settings: z.array(z.string()),
})
/** The differences from the version before: the ids of rules, and the names of other fields. */
export type PolicyChanges = Told<z.output<typeof Changes>>

const about = {
  version: z.int(),
  at: Moment,
  by: z.string().nullable(),
  rules: z.int(),
  changes: Changes,
  forced: z.int().exactOptional().meta({ description: "How many answers of people it was forced against" }),
}
const Version = z.object({ ...about, policy: WireObject }).meta({ id: "PolicyVersion" })
export type PolicyVersion = Told<z.output<typeof Version>>
export type PolicyVersionEntry = Omit<PolicyVersion, "policy">

const VersionQuery = z.strictObject({
  before: numberInQuery({ min: 1, max: Number.MAX_SAFE_INTEGER }).exactOptional(),
  limit: numberInQuery({ min: 1, max: 500 }).default(50),
})

export const backtestRoutes = {
  "POST /api/policy/test": {
    access: "operator",
    summary: "Judge the recorded requests by a policy and by the one in force; nothing is changed",
    body: NewBacktest,
    maxBodyBytes: BODY_BYTES,
    reply: Backtest,
    replies: "what would be different; as lines with progress to callers that accept application/x-ndjson",
  },
  "POST /api/policy/explain": {
    access: "viewer",
    summary: "What a policy, or the one in force, says to a request",
    body: Explain,
    // It is read and judged while others wait.
    maxBodyBytes: 4 * SMALL_BODY_BYTES,
    reply: Explained,
    replies: "the verdict",
  },
  "GET /api/policy/suggestions": {
    access: "operator",
    summary: "Rules for what people always allow, and rules in force that do nothing",
    query: z.strictObject({ since: Since.exactOptional() }),
    reply: Suggestions,
    replies: "the suggestions; none is applied",
  },
  "GET /api/policy/versions": {
    access: "viewer",
    summary: "Policies that were in force, newest first",
    query: VersionQuery,
    reply: z.object({ versions: z.array(z.object(about)), more: z.boolean() }),
    replies: "the versions without their rules",
  },
  "GET /api/policy/versions/:n": {
    access: "viewer",
    summary: "One policy that was in force",
    reply: Version,
    replies: "the version",
  },
} as const satisfies RouteTable
