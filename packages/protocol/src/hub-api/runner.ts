import { z } from "zod"
import { Moment, numberInQuery, type Told } from "./fields.ts"
import type { RouteTable } from "./route-table.ts"

const Amount = z.number().nonnegative()

const Runner = z
  .object({
    id: z.string(),
    name: z.string(),
    connected: z.boolean(),
    /** Takes no new agents, because an admin said so. */
    draining: z.boolean(),
    seenAt: Moment,
    agents: z.int().nonnegative(),
    /** 0: as many as fit. */
    maxAgents: Amount,
    labels: z.array(z.string()),
    host: z.string(),
    platform: z.string(),
    /** The runner's own process. */
    version: z.string(),
    cliVersions: z.array(z.string()),
    hasSimulator: z.boolean(),
    /** The home directory of whom it runs as; older ones do not tell. */
    home: z.string().exactOptional(),
    /** The `claude` that it would start. */
    claudePath: z.string().exactOptional(),
    /** Why there is no `claude`. */
    claudeProblem: z.string().exactOptional(),
    /** How its agents would sign in; null: no way was found. Absent when it cannot tell. */
    signIn: z.string().nullable().exactOptional(),
    /** The runner and its agents together, while it is here. */
    memoryBytes: Amount.exactOptional(),
    /** Its agents' use, in per cent of one core. */
    cpuPercent: Amount.exactOptional(),
    freeMemoryBytes: Amount.exactOptional(),
    loadAverage: Amount.exactOptional(),
    usage: z.array(z.object({ session: z.string(), memoryBytes: Amount, cpuPercent: Amount })).exactOptional(),
  })
  .meta({ id: "Runner" })
/** A machine that runs agents. A newer hub may tell more than is listed here. */
export type Runner = Told<z.output<typeof Runner>>

const RunnerLogLine = z.looseObject({
  at: z.string(),
  /** `info`, `warn` or `error`; a newer runner may have others. */
  level: z.string(),
  text: z.string(),
  /** The session that it is about. */
  session: z.string().exactOptional(),
})
/** The runner's acts and failures, in its own words. */
export type RunnerLogLine = Told<z.output<typeof RunnerLogLine>>

/** The newest line is the last; `more`: there are older ones. */
const RunnerLog = z.looseObject({ lines: z.array(RunnerLogLine), more: z.boolean() }).meta({ id: "RunnerLog" })
export type RunnerLog = Told<z.output<typeof RunnerLog>>

const RunnerFolders = z
  .looseObject({
    path: z.string(),
    parent: z.string().nullable(),
    folders: z.array(z.looseObject({ name: z.string(), path: z.string(), isGit: z.boolean() })),
    more: z.boolean(),
  })
  .meta({ id: "Folders" })
export type RunnerFolders = Told<z.output<typeof RunnerFolders>>

const RecordedSession = z
  .looseObject({
    sessionId: z.string(),
    cwd: z.string().nullable(),
    summary: z.string().nullable(),
    updatedAt: z.string(),
    sizeBytes: z.number(),
    inUse: z.boolean(),
  })
  .meta({ id: "RecordedSession" })
/** A conversation that `claude` itself recorded on a runner's machine. */
export type RecordedSession = Told<z.output<typeof RecordedSession>>

const Path = z.string().min(1).max(4_096).exactOptional()

export const runnerRoutes = {
  "GET /api/runners": {
    access: "viewer",
    summary: "Machines that run agents",
    reply: z.object({ runners: z.array(Runner), more: z.boolean() }),
    replies: "the runners",
  },
  "PATCH /api/runners/:id": {
    access: "admin",
    summary: "Let a runner take no new agents, or take them again",
    body: z.strictObject({ draining: z.boolean() }),
    reply: Runner,
    replies: "the runner",
  },
  "DELETE /api/runners/:id": {
    access: "admin",
    summary: "Forget a runner that is away",
    reply: Runner,
    replies: "the runner that was forgotten; its sessions stay",
  },
  "GET /api/runners/:id/folders": {
    // People who may launch choose where; others have no business in a machine's folders.
    access: "operator",
    summary: "Directories on that machine",
    query: z.strictObject({ path: Path }),
    reply: RunnerFolders,
    replies: "as the runner tells it",
  },
  "GET /api/runners/:id/sessions": {
    access: "operator",
    summary: "Sessions that claude itself recorded on that machine, for resume",
    query: z.strictObject({ cwd: Path }),
    reply: z.looseObject({ sessions: z.array(RecordedSession) }),
    replies: "as the runner tells it",
  },
  "GET /api/runners/:id/log": {
    // It names folders and sessions of that machine.
    access: "operator",
    summary: "The last lines of that runner's own log",
    query: z.strictObject({ lines: numberInQuery({ min: 1, max: 500 }).default(200) }),
    reply: RunnerLog,
    replies: "as the runner tells it",
  },
} as const satisfies RouteTable
