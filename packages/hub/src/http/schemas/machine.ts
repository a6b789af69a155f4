import { z } from "zod"
import { Moment } from "./fields.ts"

const Runner = z
  .object({
    id: z.string(),
    name: z.string(),
    connected: z.boolean(),
    seenAt: Moment,
    agents: z.int().nonnegative(),
    memoryBytes: z.number().exactOptional(),
    cliVersions: z.array(z.string()).exactOptional(),
    labels: z.array(z.string()).exactOptional(),
  })
  .meta({ id: "Runner" })

export const RunnerList = z.object({ runners: z.array(Runner), more: z.boolean() })
export const FoldersQuery = z.strictObject({ path: z.string().min(1).max(4_096).exactOptional() })
export const RecordedSessionsQuery = z.strictObject({ cwd: z.string().min(1).max(4_096).exactOptional() })
/** As the runner tells it. */
export const RunnerReport = z.unknown()

const Run = z.unknown().meta({ id: "Run" })
export const RunReport = Run
export const RunList = z.object({ runs: z.array(Run), more: z.boolean() })
