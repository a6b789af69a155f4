import { z } from "zod"
import { flagInQuery, Moment, numberInQuery, Seq, type Told } from "./fields.ts"
import { NewSession } from "./launch.ts"
import { BODY_BYTES, LARGE_BODY_BYTES, type RouteTable } from "./route-table.ts"

const SessionState = z.enum(["starting", "idle", "running", "waiting", "disconnected", "ended"])
export type SessionState = z.output<typeof SessionState>

const tokenFields = { input: z.number(), output: z.number(), cacheRead: z.number(), cacheCreation: z.number() }
const TokenCount = z.object(tokenFields).meta({ description: "What its turns used. The four kinds do not overlap." })
/** Tokens in four kinds that never overlap: their sum is all that was used. */
export type TokenCount = Told<z.output<typeof TokenCount>>

const ModelUse = z.object({ ...tokenFields, costUsd: z.number() })
export type ModelUse = Told<z.output<typeof ModelUse>>

const ModelUses = z.record(z.string(), ModelUse)
/** By the model's name. Sub-agents and the CLI's own helpers are counted too. */
export type ModelUses = Told<z.output<typeof ModelUses>>

const SessionExit = z.object({
  reason: z.string(),
  code: z.int().exactOptional(),
  signal: z.string().exactOptional(),
  at: Moment,
})
/** How a session's last process ended. */
export type SessionExit = Told<z.output<typeof SessionExit>>

const sessionFields = {
  id: z.string(),
  title: z.string().nullable(),
  state: SessionState,
  /** The CLI's own `session_id`. */
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
  transport: z.enum(["runner", "websocket", "hybrid"]).nullable(),
  /** The id of the runner whose agent it is. */
  runner: z.string().nullable(),
  /** When that runner last came or went. */
  runnerSeenAt: Moment.exactOptional(),
  archived: z.boolean(),
  pinned: z.boolean().meta({ description: "Pinned sessions come first in every list." }),
  createdAt: Moment,
  updatedAt: Moment,
  turnStartedAt: Moment.exactOptional(),
  /** Commands and agents that go on beside its turns, as its process last told; absent when it never did. */
  backgroundTasks: z.int().nonnegative().exactOptional(),
  lastSeq: Seq,
  lastLine: z.string().exactOptional(),
  /** Who interrupted the turn that goes on; its result then is no failure. */
  interruptedBy: z.string().exactOptional(),
  lastResult: z
    .object({
      subtype: z.string(),
      isError: z.boolean(),
      at: Moment,
      /** The result's event: whoever has seen that knows of it. Absent in records of an older hub. */
      seq: Seq.exactOptional(),
      interruptedBy: z.string().exactOptional(),
    })
    .exactOptional(),
  exit: SessionExit.exactOptional(),
  startedBy: z.string().exactOptional().meta({
    description: "The name of the token that started it. Absent: its agent came by itself, or an older hub started it.",
  }),
  branch: z.string().exactOptional().meta({
    description:
      "The git branch that its folder is on, as its runner last told; empty when it is on none. Absent: nobody knows.",
  }),
  changes: z
    .object({ files: z.int().nonnegative(), added: z.int().nonnegative(), removed: z.int().nonnegative() })
    .exactOptional()
    .meta({
      description:
        "Uncommitted changes in its folder, as its runner last told: changed and new files, and lines of the changed ones. Absent: nobody knows.",
    }),
  progress: z
    .object({ done: z.int().nonnegative(), total: z.int().positive(), step: z.string().exactOptional() })
    .exactOptional()
    .meta({
      description:
        "How far the agent is in its own list of tasks, and the task that it is at. Absent: it keeps no list.",
    }),
  /** The git worktree that was made for it. */
  worktree: z.object({ path: z.string(), branch: z.string() }).exactOptional(),
  turns: z.int().nonnegative(),
  costUsd: z.number(),
  tokens: TokenCount,
  models: ModelUses.exactOptional().meta({
    description: "What each model was used for, sub-agents included; absent until an agent tells it.",
  }),
  pendingAsks: z.int().nonnegative(),
  viewers: z.int().nonnegative(),
  enforce: z.enum(["asked", "everything", "lost"]).exactOptional().meta({
    description:
      "What the policy judges of its process. `lost`: a tool ran that the policy had not seen, or the agent is too old to be judged; it gets no more messages. Absent: only what the agent asks about.",
  }),
  owner: z.string().exactOptional().meta({
    description: "The hub that has it, by its id in `GET /api/hubs`; absent if none does, or the hub is alone.",
  }),
  /** The session this one came from. */
  parent: z.string().exactOptional(),
  parentSeq: z.int().nonnegative().exactOptional().meta({
    description: "Of a fork: the last event of its parent that belongs to its history too.",
  }),
  /** The session that followed it. */
  next: z.string().exactOptional(),
}

const Session = z.object(sessionFields).meta({ id: "Session" })
/** A newer hub may tell more than is listed here. */
export type Session = Told<z.output<typeof Session>>

const Ingress = z
  .object({ url: z.string(), token: z.string(), command: z.string(), note: z.string().exactOptional() })
  .meta({ id: "Ingress", description: "How an agent started by hand connects. Told this once only." })
export type Ingress = Told<z.output<typeof Ingress>>

const CreatedSession = z.object({ ...sessionFields, ingress: Ingress.exactOptional() }).meta({ id: "CreatedSession" })
/** `ingress` is there for an agent that is started by hand, and only in the reply that made the session. */
export type CreatedSession = Told<z.output<typeof CreatedSession>>

const SessionPatch = z
  .strictObject({
    title: z.string().max(500).exactOptional(),
    archived: z.boolean().exactOptional(),
    pinned: z.boolean().exactOptional(),
  })
  .meta({ id: "SessionPatch" })
export type SessionPatch = Told<z.output<typeof SessionPatch>>

const SessionQuery = z.strictObject({
  limit: numberInQuery({ min: 1, max: 500 }).default(100),
  cursor: z.string().min(1).max(1_000).exactOptional(),
  state: SessionState.exactOptional(),
  q: z.string().max(500).exactOptional(),
})
export type SessionQuery = Told<z.output<typeof SessionQuery>>

const SessionPage = z.object({
  sessions: z.array(Session),
  cursor: z.string().nullable(),
  read: z.record(z.string(), Seq).exactOptional().meta({
    description: "How far the caller has read each of these, by its id; a session that is not here is unread.",
  }),
})
export type SessionPage = Told<z.output<typeof SessionPage>>

const ReadMark = z.object({ seq: Seq }).meta({
  id: "ReadMark",
  description: "The last event that this person has read; 0 is none. A person is the name of a token.",
})
export type ReadMark = Told<z.output<typeof ReadMark>>

const one = { reply: Session, replies: "the session" }

export const sessionRoutes = {
  "POST /api/sessions": {
    access: "operator",
    summary: "Make a session and launch its agent; the same requestKey again is the same session",
    body: NewSession,
    maxBodyBytes: LARGE_BODY_BYTES,
    status: 201,
    reply: CreatedSession,
    replies: "the session",
  },
  "GET /api/sessions": {
    access: "viewer",
    summary: "Sessions, the pinned ones first, then the newest first",
    query: SessionQuery,
    reply: SessionPage,
    replies: "a page of sessions, and the cursor of the next",
  },
  "GET /api/sessions/:id": { access: "viewer", summary: "One session", ...one },
  "PATCH /api/sessions/:id": {
    access: "operator",
    summary: "Change its title, archive it, or pin it",
    body: SessionPatch,
    maxBodyBytes: BODY_BYTES,
    ...one,
  },
  "GET /api/sessions/:id/read": {
    access: "viewer",
    summary: "How far the caller has read it",
    reply: ReadMark,
    replies: "the mark",
  },
  "PUT /api/sessions/:id/read": {
    access: "viewer",
    summary: "Say how far the caller has read it. A mark only moves forward, and not past the last event",
    body: z.strictObject({ seq: Seq }),
    reply: ReadMark,
    replies: "the mark as it is now",
  },
  "DELETE /api/sessions/:id": {
    access: "operator",
    summary:
      "Stop its agent, keep its history. With purge=true (admin): delete a session that has ended for good, with its history",
    query: z.strictObject({ purge: flagInQuery.default(false) }),
    reply: Session,
    replies: "the session; nothing (204) if it was purged",
  },
  "DELETE /api/sessions/:id/worktree": {
    access: "operator",
    summary: "Remove the git worktree that was made for it; refused while it has changes that are not committed",
    ...one,
  },
} as const satisfies RouteTable
