/** A hub as it tells the others of itself. */
export interface HubRow {
  readonly id: string
  readonly url: string
  readonly version: string
  /** Which hubs can work with it: those with the same number. */
  readonly wire: number
  readonly sessions: number
  readonly runners: number
  readonly viewers: number
}

/** Times are the database's. */
export interface SeenHub extends HubRow {
  readonly startedAt: string
  readonly seenAt: string
}

/** What hubs that share a database tell each other in it. */
export interface ClusterStore {
  /** Writes or renews the hub's row. Gives the rows that were renewed within the lease, its own too, the oldest first. */
  beat(hub: HubRow, leaseMs: number): Promise<readonly SeenHub[]>
  /** The others need not wait until the lease is over. */
  leave(hub: string): Promise<void>
  close(): Promise<void>
}
