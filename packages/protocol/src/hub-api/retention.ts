import { z } from "zod"
import { Moment, Span, type Told } from "./fields.ts"
import type { RouteTable } from "./route-table.ts"

const MAX_KEPT = 10_000

/** The sessions that a prune takes. */
const chosen = {
  olderThan: Span.meta({ description: "Only sessions in which nothing has happened for so long: 90d, 12h" }),
  archived: z.boolean().exactOptional().meta({ description: "Only archived sessions" }),
  keepLast: z
    .int()
    .min(0)
    .max(MAX_KEPT)
    .exactOptional()
    .meta({ description: "Keep this many of the newest sessions that have ended, however old they are" }),
}

export const Retention = z.strictObject(chosen).meta({
  id: "Retention",
  description:
    "Sessions that the hub purges by itself, about once an hour. It never purges pinned ones or those that run.",
})
export type Retention = Told<z.output<typeof Retention>>

const Prune = z
  .strictObject({
    ...chosen,
    state: z
      .literal("ended")
      .exactOptional()
      .meta({ description: "Changes nothing: only ended sessions can be deleted" }),
    dryRun: z.boolean().exactOptional().meta({ description: "Only tell what would be purged" }),
  })
  .meta({ id: "Prune" })
export type Prune = Told<z.output<typeof Prune>>

const Pruned = z
  .object({
    count: z.int().nonnegative().meta({ description: "How many sessions are purged, or would be" }),
    sessions: z
      .array(z.object({ id: z.string(), title: z.string().nullable(), updatedAt: Moment }))
      .meta({ description: "The first of them, at most 100" }),
    events: z.int().nonnegative(),
    bytes: z.int().nonnegative().meta({ description: "About how much room they take, from the average of all events" }),
    more: z
      .boolean()
      .meta({ description: "Always false: one call takes them all. An older hub took 10,000 at a time" }),
  })
  .meta({ id: "Pruned" })
export type Pruned = Told<z.output<typeof Pruned>>

const StoreSize = z
  .object({
    bytes: z.int().nonnegative().meta({ description: "The database" }),
    freeBytes: z.int().nonnegative().meta({ description: "The part of it that is free: new events take it first" }),
    walBytes: z.int().nonnegative().meta({ description: "The write-ahead log beside it" }),
    searchBytes: z.int().nonnegative().meta({ description: "The search index" }),
    events: z.int().nonnegative(),
    canShrink: z.boolean().meta({
      description:
        "false: an older version made the file; what is deleted in it is used again, but the file stays as long as it is",
    }),
    purging: z.int().nonnegative().meta({ description: "Sessions that a prune has still to purge" }),
    dayAgo: z
      .object({ at: Moment, bytes: z.int().nonnegative() })
      .exactOptional()
      .meta({ description: "Its size about a day ago; absent until the hub has known it so long" }),
  })
  .meta({ id: "StoreSize" })
export type StoreSize = Told<z.output<typeof StoreSize>>

export const retentionRoutes = {
  "POST /api/sessions/prune": {
    access: "admin",
    summary:
      "Purge old sessions that have ended: their events, messages and inputs are deleted for good. Pinned ones stay. The hub works through them in the background; the same call again does no harm",
    body: Prune,
    status: 202,
    reply: Pruned,
    replies: "the sessions that are purged, or with dryRun would be",
  },
  "GET /api/store": {
    access: "viewer",
    summary: "The size of the hub's store, and how much of a prune is still to be done",
    reply: StoreSize,
    replies: "the size",
  },
} as const satisfies RouteTable
