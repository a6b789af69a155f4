import type { Database } from "./database.ts"
import { isDamage, isStorageFailure } from "./store-failure.ts"

/** Collects what jobs write, so that it is written together. */
export interface JournalStage {
  /** Writes what was collected. */
  flush(): void
  /** Everything flushed is durable. */
  committed(): void
  /** Forgets what was collected and not flushed, and whatever was learned from rows that are gone again. */
  discard(): void
  /** Forgets all of it: the transaction never was. */
  rolledBack(): void
}

interface Job {
  readonly run: () => void
  readonly session?: string | undefined
}

/** Where jobs write to. */
export interface Ledger {
  readonly database: Database
  readonly stages: readonly JournalStage[]
}

interface Batch<J> {
  readonly jobs: readonly J[]
  /** On disk in full before the commit returns. */
  readonly synced: boolean
}

/**
 * One transaction for all jobs. A job that throws fails alone: it is in the returned map, the others are committed. One that
 * needs a damaged page takes along those of its session that come after it. Throws when nothing could be committed.
 */
export function commitJobs<J extends Job>(ledger: Ledger, batch: Batch<J>): ReadonlyMap<J, unknown> {
  const { jobs, synced } = batch
  try {
    transact(ledger, synced, () => runAll(ledger, jobs))
    return new Map()
  } catch (error) {
    if (isStorageFailure(error)) throw error
  }
  // Some job threw, which is rare: once more, each behind a savepoint of its own.
  const damaged = new Map<J, unknown>()
  for (;;) {
    const left = jobs.filter((job) => !damaged.has(job))
    const at: { job?: J | undefined } = {}
    try {
      const failures = transact(ledger, synced, () => runEach(ledger, left, at))
      return new Map([...damaged, ...failures])
    } catch (error) {
      // SQLite commits nothing of a transaction that met a damaged page: it is begun anew without whatever needs that.
      const { job } = at
      if (job === undefined || !isDamage(error)) throw error
      const isTaken = (later: J) => later === job || (job.session !== undefined && later.session === job.session)
      for (const later of left.slice(left.indexOf(job)).filter(isTaken)) damaged.set(later, error)
    }
  }
}

function transact<T>({ database, stages }: Ledger, synced: boolean, body: () => T): T {
  let result: T
  // The level cannot be changed inside a transaction.
  if (synced) database.exec("PRAGMA synchronous = FULL")
  try {
    database.exec("BEGIN IMMEDIATE")
    result = body()
    database.exec("COMMIT")
  } catch (error) {
    rollBack(database)
    for (const stage of stages) stage.rolledBack()
    throw error
  } finally {
    if (synced) database.exec("PRAGMA synchronous = NORMAL")
  }
  for (const stage of stages) stage.committed()
  return result
}

function runAll({ stages }: Ledger, jobs: readonly Job[]): void {
  for (const job of jobs) job.run()
  for (const stage of stages) stage.flush()
}

/** `at` tells which job is under way. */
function runEach<J extends Job>(
  ledger: Ledger,
  jobs: readonly J[],
  at: { job?: J | undefined },
): ReadonlyMap<J, unknown> {
  const { database, stages } = ledger
  const failures = new Map<J, unknown>()
  for (const job of jobs) {
    at.job = job
    database.exec("SAVEPOINT job")
    try {
      runAll(ledger, [job])
    } catch (error) {
      if (isStorageFailure(error) || isDamage(error)) throw error
      database.exec("ROLLBACK TO job")
      for (const stage of stages) stage.discard()
      failures.set(job, error)
    }
    database.exec("RELEASE job")
  }
  at.job = undefined
  return failures
}

/** SQLite ends a transaction by itself after some failures; then there is none left to roll back. */
function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK")
  } catch {
    // None was open.
  }
}
