/** A hub that was not seen for so long, by the database's clock, is dead. */
export const LEASE_MS = 10_000

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

/** `owner`: the living hub that has the session. */
export type Claimed = { readonly isOurs: true } | { readonly isOurs: false; readonly owner: string }

export interface OwnedSession {
  readonly owner: string | undefined
  readonly pendingAsks: number
  /** Its record is saved a little later than its events are. */
  readonly lastSeq: number
}

export interface RunnerRow {
  readonly id: string
  /** Undefined while it is away. */
  readonly hub: string | undefined
  readonly epoch: number
  readonly draining: boolean
  readonly told: unknown
}

/** Times are the database's. */
export interface SeenHub extends HubRow {
  readonly startedAt: string
  readonly seenAt: string
}

/** A session that is another hub's now, and the epoch under which this one wrote it. */
export interface LostSession {
  readonly session: string
  readonly epoch: number
}

/** The tables in which hubs that share a database tell each other of themselves. */
export interface ClusterStore {
  /** This hub's id, new each time the store is opened. */
  readonly hub: string
  /** Writes or renews the hub's row. Gives the rows that were renewed within the lease, its own too, the oldest first. */
  beat(hub: HubRow, leaseMs: number): Promise<readonly SeenHub[]>
  /** The others need not wait until the lease is over. */
  leave(hub: string): Promise<void>
  /**
   * This hub writes the session from here on, under a new epoch. Without `force`, only one that no living hub has. What it wrote of it
   * under an earlier epoch, and is not in the database yet, never will be.
   */
  claim(session: string, how: { readonly leaseMs: number; readonly force: boolean }): Promise<Claimed>
  /** The session is new, so this hub has it. */
  begin(session: string): void
  /** Nobody needs it here any more, or the hub `next` has it from now on. What was written of it before is in the database when this resolves. */
  release(session: string, next?: string): Promise<void>
  /** At once, and without a word to the others: what is written of it fails. */
  drop(session: string): void
  /** The sessions of this hub that another one has claimed since: some are looked at with each call. */
  lost(): Promise<readonly LostSession[]>
  /** The epoch under which this hub writes the session, if it does. */
  epochOf(session: string): number | undefined
  /** The hubs that have these sessions, alive or not, and how many questions are open in them. */
  owners(sessions: readonly string[]): Promise<ReadonlyMap<string, OwnedSession>>
  /** This hub alone starts a session with this key, until `releaseKey` or its death. False: another one is at it. */
  claimKey(key: string): Promise<boolean>
  releaseKey(key: string): Promise<void>
  /** It is connected here from now on. Gives the number of that connection, higher than all before. */
  runnerJoined(id: string, told: unknown): Promise<number>
  /** These two change nothing unless the row is this hub's. False: it is not. */
  runnerChanged(id: string, told: unknown): Promise<boolean>
  runnerLeft(id: string, told: unknown): Promise<void>
  drainRunner(id: string, draining: boolean): Promise<void>
  forgetRunner(id: string): Promise<void>
  runners(): Promise<readonly RunnerRow[]>
  close(): Promise<void>
}
