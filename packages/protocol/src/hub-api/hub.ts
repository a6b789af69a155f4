import { z } from "zod"
import { Moment, type Told } from "./fields.ts"
import type { RouteTable } from "./route-table.ts"

const Count = z.int().nonnegative()

const HubInfo = z
  .object({
    /** New at each start. */
    id: z.string(),
    /** Where other hubs reach it; alone, where everybody does. */
    url: z.string(),
    version: z.string(),
    startedAt: Moment,
    /** When it last renewed its place, by the database's clock. */
    seenAt: Moment,
    /** Sessions in its memory, runners and viewers that are connected to it. */
    sessions: Count,
    runners: Count,
    viewers: Count,
    /** The hub that replied. */
    self: z.boolean(),
  })
  .meta({ id: "Hub" })
/** A hub on the same store. */
export type HubInfo = Told<z.output<typeof HubInfo>>

export const hubRoutes = {
  "GET /api/hubs": {
    access: "viewer",
    summary: "Hubs on the same store",
    reply: z.object({ hubs: z.array(HubInfo) }),
    replies: "the hubs that are alive, the oldest first",
  },
  "POST /api/hubs/secret": {
    access: "admin",
    summary: "Replace the secret by which hubs on the same store know each other",
    reply: z.object({ rotatedAt: Moment }),
    replies: "when it was replaced; hubs take the new one within seconds, and the old one for a minute",
  },
} as const satisfies RouteTable
