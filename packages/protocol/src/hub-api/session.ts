import { z } from "zod"
import { LAUNCH_MODES } from "../asking-modes.ts"
import { launchOptionsIn } from "../launch-options.ts"
import { Id, Moment, numberInQuery, Seq } from "./fields.ts"
import { launchOptionFields } from "./launch.ts"

/** They are kept with the session, for its next process. */
const MAX_OPTIONS_CHARS = 256 * 1024

const STATES = ["starting", "idle", "running", "waiting", "disconnected", "ended"] as const
const TRANSPORTS = ["runner", "websocket", "hybrid"] as const

const tokenFields = { input: z.number(), output: z.number(), cacheRead: z.number(), cacheCreation: z.number() }

const sessionFields = {
  id: z.string(),
  title: z.string().nullable(),
  state: z.enum(STATES),
  agentSessionId: z.string().nullable(),
  cwd: z.string().nullable(),
  model: z.string().nullable(),
  permissionMode: z.string().nullable(),
  maxThinkingTokens: z
    .number()
    .nullable()
    .exactOptional()
    .meta({ description: "The limit of thinking that somebody set; absent or null is the agent's own default." }),
  cliVersion: z.string().nullable(),
  transport: z.enum(TRANSPORTS).nullable(),
  runner: z.string().nullable(),
  runnerSeenAt: Moment.exactOptional(),
  archived: z.boolean(),
  createdAt: Moment,
  updatedAt: Moment,
  turnStartedAt: Moment.exactOptional(),
  backgroundTasks: z.int().nonnegative().exactOptional(),
  lastSeq: Seq,
  lastLine: z.string().exactOptional(),
  interruptedBy: z.string().exactOptional(),
  lastResult: z
    .object({
      subtype: z.string(),
      isError: z.boolean(),
      at: Moment,
      seq: Seq.exactOptional(),
      interruptedBy: z.string().exactOptional(),
    })
    .exactOptional(),
  exit: z
    .object({ reason: z.string(), code: z.int().exactOptional(), signal: z.string().exactOptional(), at: Moment })
    .exactOptional(),
  worktree: z.object({ path: z.string(), branch: z.string() }).exactOptional(),
  turns: z.int().nonnegative(),
  costUsd: z.number(),
  tokens: z.object(tokenFields).meta({ description: "What its turns used. The four kinds do not overlap." }),
  models: z
    .record(z.string(), z.object({ ...tokenFields, costUsd: z.number() }))
    .exactOptional()
    .meta({ description: "What each model was used for, sub-agents included; absent until an agent tells it." }),
  pendingAsks: z.int().nonnegative(),
  viewers: z.int().nonnegative(),
  parent: z.string().exactOptional(),
  next: z.string().exactOptional(),
}

export const Session = z.object(sessionFields).meta({ id: "Session" })

const Ingress = z
  .object({ url: z.string(), token: z.string(), command: z.string(), note: z.string().exactOptional() })
  .meta({ id: "Ingress", description: "How an agent started by hand connects. Told this once only." })

export const CreatedSession = z
  .object({ ...sessionFields, ingress: Ingress.exactOptional() })
  .meta({ id: "CreatedSession" })

const Command = z.strictObject({ command: z.array(z.string().min(1).max(4_096)).min(1).max(100) })

const VariableNames = z.string().regex(/^[A-Za-z_]\w*$/, { error: "is not the name of a variable" })
/** Names and values of environment variables; a value may not hold a NUL. */
export const Variables = z.record(
  VariableNames,
  z
    .string()
    .max(128 * 1024)
    .regex(/^[^\0]*$/, { error: "must not hold a NUL" }),
)

export const NewSessionBody = z
  .strictObject({
    agent: z
      .union([z.enum(["claude", "simulator", "external"]), Command], {
        error: 'expected "claude", "simulator", "external" or {"command":["executable", …]}',
      })
      .exactOptional(),
    cwd: z.string().min(1).max(4_096).exactOptional(),
    prompt: z.string().min(1).exactOptional(),
    model: z.string().min(1).max(200).exactOptional(),
    permissionMode: z.enum(LAUNCH_MODES, { error: `expected one of ${LAUNCH_MODES.join(", ")}` }).exactOptional(),
    resume: Id.exactOptional(),
    continue: z
      .boolean()
      .exactOptional()
      .meta({ description: "Go on with the most recent conversation that claude recorded in cwd on that machine." }),
    fork: z.boolean().exactOptional(),
    resumeAt: Id.exactOptional(),
    title: z.string().max(500).exactOptional(),
    runner: Id.exactOptional(),
    hooks: z.array(z.string().min(1).max(100)).max(100).exactOptional(),
    worktree: z
      .union([z.boolean(), z.strictObject({ branch: z.string().min(1).max(250).exactOptional() })], {
        error: 'expected true, false or {"branch":"name"}',
      })
      .exactOptional(),
    ...launchOptionFields,
    args: z
      .array(z.string().max(128 * 1024))
      .max(1_000)
      .exactOptional(),
    env: Variables.exactOptional(),
    requestKey: Id.exactOptional(),
  })
  .refine((body) => body.continue !== true || body.resume === undefined, {
    path: ["continue"],
    error: "cannot be used with resume: name a conversation with resume, or take the folder's last one with continue",
  })
  .refine((body) => body.fork !== true || body.resume !== undefined || body.continue === true, {
    path: ["fork"],
    error: "needs resume or continue: say which conversation to fork",
  })
  .refine(({ resume, fork, resumeAt }) => resumeAt === undefined || (resume !== undefined && fork === true), {
    path: ["resumeAt"],
    error: "needs resume and fork: the original keeps all of its messages",
  })
  .refine((body) => JSON.stringify(launchOptionsIn(body) ?? {}).length <= MAX_OPTIONS_CHARS, {
    error: `systemPrompt, agents and the other options of the agent are longer than ${MAX_OPTIONS_CHARS} characters together`,
  })
  .meta({ id: "NewSession" })

export const SessionPatch = z
  .strictObject({ title: z.string().max(500).exactOptional(), archived: z.boolean().exactOptional() })
  .meta({ id: "SessionPatch" })

export const SessionListQuery = z.strictObject({
  limit: numberInQuery({ min: 1, max: 500 }).default(100),
  cursor: z.string().min(1).max(1_000).exactOptional(),
  state: z.enum(STATES).exactOptional(),
  q: z.string().max(500).exactOptional(),
})

export const SessionList = z.object({ sessions: z.array(Session), cursor: z.string().nullable() })
