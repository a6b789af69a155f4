import { z } from "zod"
import { Moment, numberInQuery } from "./fields.ts"

const Amount = z.number().nonnegative()

export const Runner = z
  .object({
    id: z.string(),
    name: z.string(),
    connected: z.boolean(),
    draining: z.boolean(),
    seenAt: Moment,
    agents: z.int().nonnegative(),
    maxAgents: Amount,
    labels: z.array(z.string()),
    host: z.string(),
    platform: z.string(),
    version: z.string(),
    cliVersions: z.array(z.string()),
    hasSimulator: z.boolean(),
    home: z.string().exactOptional(),
    claudePath: z.string().exactOptional(),
    claudeProblem: z.string().exactOptional(),
    signIn: z.string().nullable().exactOptional(),
    memoryBytes: Amount.exactOptional(),
    cpuPercent: Amount.exactOptional(),
    freeMemoryBytes: Amount.exactOptional(),
    loadAverage: Amount.exactOptional(),
    usage: z.array(z.object({ session: z.string(), memoryBytes: Amount, cpuPercent: Amount })).exactOptional(),
  })
  .meta({ id: "Runner" })

export const RunnerPatch = z.strictObject({ draining: z.boolean() })
export const RunnerList = z.object({ runners: z.array(Runner), more: z.boolean() })
export const FoldersQuery = z.strictObject({ path: z.string().min(1).max(4_096).exactOptional() })
export const RecordedSessionsQuery = z.strictObject({ cwd: z.string().min(1).max(4_096).exactOptional() })

export const RunnerLogQuery = z.strictObject({ lines: numberInQuery({ min: 1, max: 500 }).default(200) })

/** As the runner tells it, the newest line last. */
export const RunnerLog = z
  .looseObject({
    lines: z.array(
      z.looseObject({ at: z.string(), level: z.string(), text: z.string(), session: z.string().exactOptional() }),
    ),
    more: z.boolean(),
  })
  .meta({ id: "RunnerLog" })

/** As the runner tells it. */
export const RunnerFolders = z
  .looseObject({
    path: z.string(),
    parent: z.string().nullable(),
    folders: z.array(z.looseObject({ name: z.string(), path: z.string(), isGit: z.boolean() })),
    more: z.boolean(),
  })
  .meta({ id: "Folders" })

/** As the runner tells it. */
export const RecordedSessionList = z.looseObject({
  sessions: z.array(
    z
      .looseObject({
        sessionId: z.string(),
        cwd: z.string().nullable(),
        summary: z.string().nullable(),
        updatedAt: z.string(),
        sizeBytes: z.number(),
        inUse: z.boolean(),
      })
      .meta({ id: "RecordedSession" }),
  ),
})
